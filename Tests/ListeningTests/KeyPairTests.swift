import Foundation
import GatewayKit
import GatewayTesting
import Testing

@testable import Listening

/// A private key that belongs to another certificate is a mistake of the configuration.
@Suite struct KeyPairTests {
    private func withCertificates(_ body: (Certificates) throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "keys-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(try await Certificates.make(in: folder.path))
    }

    private func mistakes(certificate: String, key: String) -> [String] {
        func text(_ text: String) -> ConfigurationValue { ConfigurationValue(.scalar(text, isQuoted: false)) }
        let files = [(ConfigurationKey("certificate"), text(certificate)), (ConfigurationKey("key"), text(key))]
        var reader = ConfigurationReader(
            ConfigurationValue(.map([(ConfigurationKey("tls"), ConfigurationValue(.map(files)))])))
        _ = reader.listenOptions(default: "127.0.0.1:8480")
        return reader.finish().map { "\($0.path): \($0.message)" }
    }

    @Test func `refuses the key of another certificate`() async throws {
        try await withCertificates { made in
            #expect(mistakes(certificate: made.server, key: made.serverKey) == [])
            #expect(
                mistakes(certificate: made.server, key: made.clientKey) == [
                    "tls.key: \(made.clientKey) is not the key of \(made.server). Set the files that were made together."
                ])
        }
    }

    @Test func `judges only what it can read`() async throws {
        try await withCertificates { made in
            #expect(KeyPair(certificate: made.server, key: made.clientKey).isMismatched)
            #expect(!KeyPair(certificate: made.server, key: made.server).isMismatched)
            #expect(!KeyPair(certificate: made.serverKey, key: made.serverKey).isMismatched)
            #expect(!KeyPair(certificate: made.directory + "/none", key: made.serverKey).isMismatched)
            let text = "-----BEGIN X-----\n"
            try Data(text.utf8).write(to: URL(filePath: made.directory + "/x"))
            #expect(!KeyPair(certificate: made.directory + "/x", key: made.directory + "/x").isMismatched)
        }
    }
}
