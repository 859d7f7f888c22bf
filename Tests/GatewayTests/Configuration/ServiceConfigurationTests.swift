import Gateway
import GatewayKit
import Testing

@Suite struct ServiceConfigurationTests {
    private static let head = "mqtt: {url: mqtt://127.0.0.1}\n"
    private static let user = "devices: [{id: ring-1, driver: ring, transport: {type: radio, channel: 7}}]\n"
    private static let other = "devices: [{id: ring-1, driver: ring, transport: {type: radio}}]\n"

    @Test func `reads what devices share`() throws {
        let configuration = try load(Self.head + Self.user + "plugins: {test: {height: 3}}")
        #expect(configuration.services.map(\.name) == ["test"])
        #expect((configuration.services.first?.service as? Antenna)?.height == 3)
        #expect(configuration.devices.map(\.serviceNames) == [["test"]])
        #expect(configuration.warnings.isEmpty)
    }

    @Test func `asks for what a device needs, and only then`() throws {
        #expect(
            issues(Self.head + Self.user) == [
                "1: plugins.test: height is missing; a whole number from 1 to 30 is needed here."
            ])
        #expect(try load(Self.head + Self.other).services.isEmpty)
    }

    @Test func `reports errors with their lines`() {
        #expect(
            issues(Self.head + Self.user + "plugins:\n  test: {height: 99}\n  toaster: {}\n") == [
                "4: plugins.test.height: A whole number from 1 to 30 is needed here.",
                "5: plugins.toaster: There is no plugin toaster whose devices share anything. Known here: test.",
            ])
        #expect(
            issues(Self.head + Self.other + "plugins: {test: {height: 3, width: 4}}") == [
                "3: plugins.test.width: There is no such key. Known here: height."
            ])
    }

    @Test func `warns of what no device uses`() throws {
        #expect(
            try load(Self.head + Self.other + "plugins: {test: {height: 3}}").warnings.map { $0.text(file: nil) } == [
                "3: plugins.test: No device uses test; it is not started."
            ])
    }

    @Test func `changes with the meaning of its entry`() throws {
        func fingerprint(_ entry: String) throws -> Int? {
            try load(Self.head + Self.user + entry).services.first?.fingerprint
        }
        let first = try fingerprint("plugins: {test: {height: 3}}")
        #expect(try fingerprint("# Higher?\nplugins:\n  test:\n    height: 3") == first)
        #expect(try fingerprint("plugins: {test: {height: 4}}") != first)
    }
}
