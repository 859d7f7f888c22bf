import GatewayKit
import Listening
import TestSupport
import Testing

@testable import Web

/// The keys of `web:`.
@Suite struct WebConfigurationTests {
    @Test func `listens on loopback without values of health unless it is told otherwise`() throws {
        var reader = ConfigurationReader(ConfigurationValue(.map([])))
        let configuration = WebConfiguration(&reader)
        #expect(reader.finish().isEmpty)
        #expect(configuration.listen.address.description == WebConfiguration.defaultAddress)
        #expect(configuration.listen.tls == nil && !configuration.hasVitalMetrics)
    }

    @Test(arguments: [("0.0.0.0:8480", false), ("[::]:8480", false), ("127.0.0.1:8480", true), ("[::1]:0", true)])
    func `beyond this machine it needs TLS, or an explicit word`(address: String, isRight: Bool) throws {
        let isTaken = (try? webConfiguration(listen: address)) != nil
        #expect(isTaken == isRight)
        let insecure = ConfigurationValue(.scalar("true", isQuoted: false))
        #expect(throws: Never.self) { try webConfiguration(listen: address, ["insecure": insecure]) }
    }

    @Test func `what differs only in its pages listens alike`() throws {
        let plain = try webConfiguration(listen: "127.0.0.1:8480")
        let yes = ConfigurationValue(.scalar("true", isQuoted: false))
        #expect(plain.listensLike(try webConfiguration(listen: "127.0.0.1:8480", ["vital_metrics": yes])))
        #expect(!plain.listensLike(try webConfiguration(listen: "127.0.0.1:8481")))
        let proxy = ConfigurationValue(.scalar("192.0.2.1", isQuoted: true))
        #expect(!plain.listensLike(try webConfiguration(listen: "127.0.0.1:8480", ["trusted_proxies": proxy])))
    }

    @Test func `every limit has its reason`() {
        #expect(WebConfiguration.limits.count == 35)
        #expect(WebConfiguration.limits.allSatisfy { !$0.effect.isEmpty && !$0.reason.isEmpty })
    }
}
