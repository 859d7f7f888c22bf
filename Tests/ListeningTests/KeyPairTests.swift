import Foundation
import GatewayKit
import TestSupport
import Testing

@testable import Listening

/// A certificate or a private key that a service could not use is an error of the configuration.
@Suite struct KeyPairTests {
    private func withCertificates(_ body: (Certificates) throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "keys-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(try await Certificates.make(in: folder.path))
    }

    private func issues(certificate: String, key: String) -> [String] {
        let files = ConfigurationValue.section(["certificate": certificate, "key": key])
        var reader = ConfigurationReader(ConfigurationValue(.map([(ConfigurationKey("tls"), files)])))
        _ = reader.listenOptions(default: "127.0.0.1:8480")
        return reader.finish().map { "\($0.path): \($0.message)" }
    }

    @Test func `refuses the key of another certificate`() async throws {
        try await withCertificates { made in
            #expect(issues(certificate: made.server, key: made.serverKey) == [])
            #expect(
                issues(certificate: made.server, key: made.clientKey) == [
                    "tls.key: \(made.clientKey) is not the key of \(made.server). Set the files that were made together."
                ])
        }
    }

    @Test func `refuses a file without a certificate, and one without a private key`() async throws {
        try await withCertificates { made in
            #expect(
                issues(certificate: made.serverKey, key: made.server) == [
                    "tls.certificate: \(made.serverKey) has no certificate in it (-----BEGIN CERTIFICATE-----). Set the file "
                        + "of the certificate.",
                    "tls.key: \(made.server) has no private key in it (-----BEGIN PRIVATE KEY-----). Set the file of the key.",
                ])
            // One file may have both.
            let both = made.directory + "/both.pem"
            let texts = try [made.serverKey, made.server].map { try String(contentsOfFile: $0, encoding: .utf8) }
            try Data(texts.joined().utf8).write(to: URL(filePath: both))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: both)
            #expect(issues(certificate: both, key: both) == [])
        }
    }

    @Test(arguments: [
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAA==\n", "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n",
    ])
    func `refuses a key with a passphrase, and says how to remove it`(text: String) async throws {
        try await withCertificates { made in
            let key = made.directory + "/secret.key"
            try Data(text.utf8).write(to: URL(filePath: key))
            let issue = "The key in \(key) has a passphrase; remove it with openssl pkey -in \(key) -out NEW."
            #expect(issues(certificate: made.server, key: key) == ["tls.key: \(issue)"])
        }
    }

    @Test func `refuses damaged files, as the service would`() async throws {
        try await withCertificates { made in
            func damage(_ path: String) throws -> String {
                let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
                let damaged = path + ".damaged"
                let text = [lines[0], "AAAA", lines[lines.count - 1]].joined(separator: "\n") + "\n"
                try Data(text.utf8).write(to: URL(filePath: damaged))
                return damaged
            }
            let (certificate, key) = (try damage(made.server), try damage(made.serverKey))
            #expect(
                issues(certificate: certificate, key: key) == [
                    "tls.certificate: The certificate in \(certificate) is damaged, or of an unknown kind. Make or copy it "
                        + "again.",
                    "tls.key: The private key in \(key) is damaged, or of an unknown kind. Make or copy it again.",
                ])
            // The files may change after the check.
            for files in [(certificate, made.serverKey), (made.server, key), (made.server, made.clientKey)] {
                let error = #expect(throws: ListenError.self) {
                    _ = try ListenOptions.TLS(certificate: files.0, key: files.1).serverContext()
                }
                #expect(error?.description.contains("cannot be used. Are both in PEM format") == true)
            }
        }
    }

    @Test func `compares only what it can read`() async throws {
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
