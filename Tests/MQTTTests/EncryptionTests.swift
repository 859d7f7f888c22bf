import GatewayTesting
import Logging
import MQTT
import Mosquitto
import TestSupport
import Testing

/// TLS with a real broker: certificates of all kinds, and ports that do not speak it.
@Suite(.timeLimit(.minutes(2))) struct EncryptionTests {
    private func broker(
        _ servers: [BrokerServer], _ change: (inout BrokerOptions) -> Void = { _ in }
    ) throws -> MosquittoBroker {
        var options = BrokerOptions(servers: servers, clientID: "gateway", timeout: .seconds(10))
        change(&options)
        return try MosquittoBroker(options, logger: Logger(label: "test"))
    }

    @Test func `speaks TLS with a client certificate`() async throws {
        try await withMosquitto(MosquittoOptions(encryption: .mutual)) { server in
            let certificates = try #require(server.certificates)
            for host in ["127.0.0.1", "localhost"] {
                let address = BrokerServer(host: host, port: server.port, isTLS: true)
                let client = try broker([address]) { options in
                    options.tls = TLSOptions(
                        caFile: certificates.ca, certificateFile: certificates.client, keyFile: certificates.clientKey)
                }
                try await client.withConnection { connection in
                    try await connection.deliver(OutgoingMessage("t", String(repeating: "x", count: 200_000)))
                }
            }
        }
    }

    @Test func `says what is wrong with certificates`() async throws {
        try await withMosquitto(MosquittoOptions(encryption: .mutual)) { server in
            let good = try #require(server.certificates)
            let cases: [(tls: TLSOptions, words: String)] = [
                (TLSOptions(caFile: good.otherCA, certificateFile: good.client, keyFile: good.clientKey), "ca_file"),
                (TLSOptions(caFile: good.ca), "certificate_file"),
                (TLSOptions(caFile: "/nowhere/ca.pem"), "ca_file /nowhere/ca.pem cannot be read"),
                (TLSOptions(caFile: good.ca, certificateFile: good.client), "both"),
                (TLSOptions(caFile: good.clientKey), "ca_file"),
            ]
            for (tls, words) in cases {
                let client = try broker([server.server]) { $0.tls = tls }
                let error = await brokerError {
                    // With TLS 1.3, a client certificate is refused only after the handshake, so the test waits for a
                    // delivery.
                    try await client.withConnection { try await $0.deliver(OutgoingMessage("t")) }
                }
                #expect(error?.code == .tls, "\(tls): \(String(describing: error))")
                #expect(error?.message.contains(words) == true, "\(String(describing: error))")
            }
        }
    }

    @Test func `does not trust a certificate for another host`() async throws {
        try await withMosquitto(MosquittoOptions(encryption: .server)) { server in
            let certificates = try #require(server.certificates)
            // The same machine by an address that the certificate does not contain.
            let address = BrokerServer(host: "127.1", port: server.port, isTLS: true)
            let strict = try broker([address]) { $0.tls = TLSOptions(caFile: certificates.ca) }
            let error = await brokerError { try await strict.withConnection { _ in } }
            #expect(error?.code == .tls)
            #expect(error?.message.contains("another host name") == true)
            let lax = try broker([address]) { options in
                options.tls = TLSOptions(caFile: certificates.ca, checksHostname: false)
            }
            try await lax.withConnection { try await $0.deliver(OutgoingMessage("t")) }
        }
    }

    @Test func `does not trust a certificate whose time is over`() async throws {
        try await withMosquitto(MosquittoOptions(encryption: .expired)) { server in
            let certificates = try #require(server.certificates)
            let client = try broker([server.server]) { $0.tls = TLSOptions(caFile: certificates.ca) }
            let error = await brokerError { try await client.withConnection { _ in } }
            #expect(error?.code == .tls)
            #expect(error?.message.contains("not valid today") == true, "\(String(describing: error))")
        }
    }

    @Test func `hints at the port when one without TLS is addressed with it`() async throws {
        try await withMosquitto { server in
            let address = BrokerServer(host: "127.0.0.1", port: server.port, isTLS: true)
            let error = await brokerError {
                try await broker([address]) { $0.tls = TLSOptions() }.withConnection { _ in }
            }
            #expect(error?.code == .tls)
            #expect(error?.message.contains("with TLS") == true, "\(String(describing: error))")
        }
    }

    @Test func `hints at TLS when a broker with TLS is addressed without`() async throws {
        try await withMosquitto(MosquittoOptions(encryption: .server)) { server in
            let plain = BrokerServer(host: "127.0.0.1", port: server.port)
            let error = await brokerError { try await broker([plain]).withConnection { _ in } }
            #expect(error?.code == .unreachable)
            #expect(error?.message.contains("mqtts://") == true)
        }
    }
}
