import GatewayKit
import Listening
import TestSupport
import Testing

@Suite struct ListenOptionsTests {
    private func read(_ members: KeyValuePairs<String, String>) -> (ListenOptions, [String]) {
        var reader = ConfigurationReader(.section(members))
        let options = reader.listenOptions(default: "127.0.0.1:8480")
        return (options, reader.finish().map(\.message))
    }

    @Test(arguments: ["127.0.0.1:8480", "[::1]:8480", "127.8.0.1:0"])
    func `reads an address of this machine`(text: String) {
        let (options, issues) = read(["listen": text])
        #expect(options.address.description == text)
        #expect(options.address.isLoopback)
        #expect(issues.isEmpty)
    }

    @Test func `listens on loopback without the key`() {
        #expect(read([:]).0.address.description == "127.0.0.1:8480")
    }

    @Test(arguments: [
        ("127.0.0.1:7000", "127.0.0.1:7000", true), ("127.0.0.1:7000", "127.0.0.1:7001", false),
        ("127.0.0.1:0", "127.0.0.1:0", false), ("127.0.0.1:7000", "127.0.0.2:7000", false),
        ("0.0.0.0:7000", "127.0.0.1:7000", true), ("0.0.0.0:7000", "[::1]:7000", false),
        ("[::]:7000", "127.0.0.1:7000", true), ("[::]:7000", "0.0.0.0:7000", true),
        ("[::1]:7000", "[0:0:0:0:0:0:0:1]:7000", true), ("[::1]:7000", "127.0.0.1:7000", false),
    ])
    func `knows which addresses two services cannot both have`(one: String, two: String, isSame: Bool) throws {
        let (one, two) = (try #require(ListenAddress(one)), try #require(ListenAddress(two)))
        #expect(one.collides(with: two) == isSame)
        #expect(two.collides(with: one) == isSame)
    }

    @Test func `says whether a service could listen at an address, and leaves it free`() throws {
        let address = try #require(ListenAddress("127.0.0.1:\(try freePort())"))
        for _ in 0..<2 { try address.tryListening() }
        let foreign = try #require(ListenAddress("192.0.2.1:8480"))
        #expect(throws: ListenError("Cannot listen at 192.0.2.1:8480: this machine has no such address.")) {
            try foreign.tryListening()
        }
    }

    @Test(arguments: [
        "8480", "localhost:8480", "127.0.0.1", "::1:8480", "127.0.0.1:65536", "[127.0.0.1]:80", "1.2.3:80",
    ])
    func `refuses what is no address`(text: String) {
        #expect(read(["listen": text]).1.first?.hasPrefix("An IP address and a port are needed here") == true)
    }

    @Test(arguments: ["0.0.0.0:8480", "192.168.1.2:8480", "[::]:8480"])
    func `listens beyond this machine only with encryption, or as explicitly wanted`(text: String) {
        let (options, issues) = read(["listen": text])
        #expect(!options.address.isLoopback)
        #expect(issues.count == 1)
        #expect(issues.first?.hasPrefix("Every program in the network could read secrets and health values.") == true)
        #expect(read(["listen": text, "insecure": "true"]).1.isEmpty)
    }
}
