import Foundation
import Subprocess

/// Certificates for a test, created with `openssl`, valid for a day; `expired.pem` beside them is the server's of a day in 2020.
package struct Certificates: Sendable {
    /// The folder of the files.
    package var directory: String

    /// The certificate authority that signed the others.
    package var ca: String { "\(directory)/ca.pem" }
    /// A certificate authority that signed nothing.
    package var otherCA: String { "\(directory)/other-ca.pem" }
    /// A server's certificate, for localhost and 127.0.0.1.
    package var server: String { "\(directory)/server.pem" }
    /// The key of `server`.
    package var serverKey: String { "\(directory)/server.key" }
    /// A client's certificate.
    package var client: String { "\(directory)/client.pem" }
    /// The key of `client`.
    package var clientKey: String { "\(directory)/client.key" }

    /// Creates all of them in `directory`.
    package static func make(in directory: String) async throws -> Certificates {
        let certificates = Certificates(directory: directory)
        try await certificates.authority("ca")
        try await certificates.authority("other-ca")
        try await certificates.signed("server", serverNames)
        try await certificates.expired("expired", serverNames)
        try await certificates.signed("client", "extendedKeyUsage=clientAuth")
        return certificates
    }

    private static let serverNames = "subjectAltName=DNS:localhost,IP:127.0.0.1"

    private var newKey: [String] { ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"] }

    private func authority(_ name: String) async throws {
        try await openssl(
            ["req", "-x509", "-days", "1", "-subj", "/CN=vitals2mqtt test \(name)"] + newKey
                + ["-keyout", "\(directory)/\(name).key", "-out", "\(directory)/\(name).pem"])
    }

    private func signed(_ name: String, _ certificateExtension: String) async throws {
        try await openssl(
            ["req", "-x509", "-days", "1", "-subj", "/CN=\(name)", "-CA", ca, "-CAkey", "\(directory)/ca.key"] + newKey
                + ["-addext", "basicConstraints=critical,CA:FALSE", "-addext", certificateExtension]
                + ["-keyout", "\(directory)/\(name).key", "-out", "\(directory)/\(name).pem"])
    }

    /// Only `openssl ca` sets both dates. It wants a configuration and a list of what it signed.
    private func expired(_ name: String, _ certificateExtension: String) async throws {
        let file = "\(directory)/\(name)"
        try await openssl(
            ["req", "-new", "-subj", "/CN=\(name)"] + newKey
                + ["-addext", certificateExtension, "-keyout", "\(file).key", "-out", "\(file).request"])
        let configuration = """
            [ca]
            default_ca = authority
            [authority]
            database = \(file).index
            new_certs_dir = \(directory)
            rand_serial = yes
            default_md = sha256
            policy = names
            copy_extensions = copy
            [names]
            commonName = supplied
            """
        try configuration.write(toFile: "\(file).conf", atomically: true, encoding: .utf8)
        try "".write(toFile: "\(file).index", atomically: true, encoding: .utf8)
        try await openssl(
            ["ca", "-batch", "-notext", "-config", "\(file).conf", "-cert", ca, "-keyfile", "\(directory)/ca.key"]
                + ["-startdate", "20200101000000Z", "-enddate", "20200102000000Z"]
                + ["-in", "\(file).request", "-out", "\(file).pem"])
        // Only its time is wrong.
        try await openssl(["verify", "-no_check_time", "-CAfile", ca, "\(file).pem"])
    }

    private func openssl(_ arguments: [String]) async throws { try await runProgram("openssl", arguments) }
}

/// Runs a program to its end.
/// - Throws: `ProgramError` with the program's output if it fails.
func runProgram(_ name: String, _ arguments: [String], input: [UInt8] = []) async throws {
    let result = try await Subprocess.run(
        .name(name), arguments: Arguments(arguments), input: .array(input),
        output: .string(limit: 64 * 1024), error: .combinedWithOutput)
    guard result.terminationStatus.isSuccess else {
        throw ProgramError(
            description: "\(name) \(arguments): \(result.terminationStatus) \(result.standardOutput)")
    }
}
