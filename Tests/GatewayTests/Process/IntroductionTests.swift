import GatewayKit
import Logging
import Testing

@testable import Gateway

/// What the log says of a gateway at its start.
@Suite struct IntroductionTests {
    private func introduction(_ devices: String, _ mqtt: String = "url: mqtt://h") throws -> [String: String] {
        let text = "mqtt: {\(mqtt)}\nstore: {path: a.sqlite}\ndevices: [\(devices)]\n"
        let configuration = try load(text, in: "/etc", environment: ["PW": "secret"])
        return configuration.introduction("/etc/c.yaml").mapValues { "\($0)" }
    }

    @Test func `the first line says version, configuration, store, broker without password, and devices`() throws {
        let several = "url: [mqtts://one, mqtt://two:1884], username: u, password: {env: PW}"
        let line = try introduction("{id: a, driver: toy}, {id: b, driver: toy}", several)
        #expect(
            line == [
                "version": GatewayVersion.current, "configuration": "/etc/c.yaml", "store": "/etc/a.sqlite",
                "broker": "mqtts://one:8883, mqtt://two:1884", "devices": "a, b",
            ])
        #expect(!"\(line)".contains("secret"))
        #expect(try introduction("")["devices"] == "none")
        let many = (1...12).map { "{id: d\($0), driver: toy}" }.joined(separator: ", ")
        #expect(try introduction(many)["devices"] == "d1, d2, d3, d4, d5, d6, d7, d8, d9, d10 and 2 more")
    }
}
