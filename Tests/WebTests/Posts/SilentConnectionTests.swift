import Foundation
import GatewayKit
import TestSupport
import Testing

@testable import Web

/// Connections over which no request comes, at the real listener. Its deadline runs on the real clock of an event loop, so the test has
/// a short one; `RequestDeadlineTests` has the true one.
@Suite(.timeLimit(.minutes(3))) struct SilentConnectionTests {
    private static let headTime: Duration = .milliseconds(500)

    /// What a program does with a connection `s` before it waits for its end.
    enum Manner: String, CaseIterable {
        case silence = ""
        case slowHead = "s.sendall(b'POST /v1/devices/phone-1 HTTP/1.1\\r\\n')"
        /// The beginning of a handshake of TLS: a record of 512 bytes, of which one comes.
        case slowHandshake = "s.sendall(b'\\x16\\x03\\x01\\x02\\x00\\x01')"
        /// A handshake, and then nothing.
        case silenceAfterHandshake = "s = ssl._create_unverified_context().wrap_socket(s)"
    }

    /// Waits until the gateway has closed the connection.
    private static func program(_ manner: Manner, port: Int) -> ChildProgram {
        ChildProgram(
            "python3",
            [
                "-c",
                """
                import socket, ssl, sys
                s = socket.create_connection(("127.0.0.1", \(port)))
                s.settimeout(60)
                try:
                    \(manner == .silence ? "pass" : manner.rawValue)
                    while s.recv(1000): pass
                except socket.timeout: sys.exit("It is still open.")
                except OSError: pass
                """,
            ])
    }

    private func expectEnd(_ manner: Manner, _ options: KeyValuePairs<String, ConfigurationValue>) async throws {
        try await Office.with(options, headTime: Self.headTime) { office in
            let begin = ContinuousClock.now
            let program = Self.program(manner, port: office.port)
            await program.run()
            #expect(program.events.elements.last == .ended("exited(0)"), "\(program.events.elements)")
            // It is the deadline that has closed it, and not an error.
            #expect(ContinuousClock.now - begin >= Self.headTime)
        }
    }

    @Test(arguments: [Manner.silence, .slowHead])
    func `a silent connection and a slow head are closed`(manner: Manner) async throws {
        try await expectEnd(manner, [:])
    }

    @Test(arguments: [Manner.silence, .slowHandshake, .silenceAfterHandshake])
    func `so they are with TLS, before the handshake, in the midst of it and after it`(manner: Manner) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "vitals2mqtt-silent-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let certificates = try await Certificates.make(in: folder.path())
        let files = [("certificate", certificates.server), ("key", certificates.serverKey)].map {
            (key: ConfigurationKey($0.0), value: ConfigurationValue(.scalar($0.1, isQuoted: true)))
        }
        try await expectEnd(manner, ["tls": ConfigurationValue(.map(files))])
    }
}
