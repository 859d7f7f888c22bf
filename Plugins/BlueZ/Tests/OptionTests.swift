import GatewayKit
import Testing
import Vitals

@testable import BlueZ

/// The options of the configuration.
@Suite struct OptionTests {
    private static func reader(_ pairs: [String: String]) -> ConfigurationReader {
        let map = pairs.sorted { $0.key < $1.key }.map {
            (
                key: ConfigurationKey($0.key, line: 1),
                value: ConfigurationValue(.scalar($0.value, isQuoted: false), line: 1)
            )
        }
        return ConfigurationReader(ConfigurationValue(.map(map), line: 1))
    }

    private static func issues(_ pairs: [String: String]) -> [String] {
        var reader = reader(pairs)
        _ = DeviceTarget(&reader)
        return reader.finish().map { "\($0.path): \($0.message)" }
    }

    @Test func `a device needs an address or a name`() {
        #expect(Self.issues(["address": "a4:c1:38:00:11:22"]).isEmpty)
        #expect(Self.issues(["name": "Strap"]).isEmpty)
        #expect(Self.issues([:]).count == 1)
        #expect(Self.issues(["address": "a4:c1:38:00:11:22", "name": "Strap"]).count == 1)
        for address in ["a4:c1:38:00:11", "a4-c1-38-00-11-22", "a4:c1:38:00:11:zz", "a4:c1:38:00:11:+2"] {
            #expect(Self.issues(["address": address]).count == 1, "\(address)")
        }
        var reader = Self.reader(["address": "a4:c1:38:00:11:22"])
        #expect(DeviceTarget(&reader).selector == .address("A4:C1:38:00:11:22"))
    }

    @Test func `a device alone has its address, in whatever case it is written`() {
        var (lower, named) = (Self.reader(["address": "a4:c1:38:00:11:22"]), Self.reader(["name": "Strap"]))
        #expect(BlueZTransport(options: &lower).address == "A4:C1:38:00:11:22")
        #expect(BlueZTransport(options: &named).address == nil)
    }

    @Test func `what has no meaning is an error`() {
        let device = ["name": "Strap"]
        #expect(Self.issues(device.merging(["connect_every": "1h"]) { $1 }).count == 1)
        #expect(Self.issues(device.merging(["connect_every": "1h", "connection": "periodic"]) { $1 }).isEmpty)
        #expect(Self.issues(device.merging(["pairing": "passkey"]) { $1 }).count == 1)
        #expect(Self.issues(device.merging(["pairing": "just_works"]) { $1 }).isEmpty)
        #expect(Self.issues(device.merging(["pairing": "ask"]) { $1 }).isEmpty)
        #expect(Self.issues(device.merging(["connection": "always"]) { $1 }).count == 1)
    }

    @Test func `a silence that ends a connection must be shorter than the limit of the connection`() {
        func issues(_ pairs: [String: String]) -> [String] {
            Self.issues(["name": "Strap", "connection": "periodic"].merging(pairs) { $1 })
        }
        let found = issues(["idle_timeout": "5m", "connection_limit": "10s"])
        #expect(
            found == [
                "idle_timeout: It must be shorter than connection_limit, which is 10s: no connection would end by silence."
            ])
        #expect(issues(["idle_timeout": "5m"]).count == 1)
        #expect(issues(["idle_timeout": "10s", "connection_limit": "10s"]).count == 1)
        #expect(issues(["idle_timeout": "9s", "connection_limit": "10s"]).isEmpty)
        // Without the key a connection of that length is what was asked for.
        #expect(issues(["connection_limit": "10s"]).isEmpty)
    }

    @Test func `the adapters have defaults, and a bus needs an address`() {
        var empty = Self.reader([:])
        #expect(BlueZOptions(&empty) == BlueZOptions())
        var wrong = Self.reader(["bus": "system", "links": "0", "turn": "1s"])
        _ = BlueZOptions(&wrong)
        #expect(wrong.finish().count == 3)
    }
}
