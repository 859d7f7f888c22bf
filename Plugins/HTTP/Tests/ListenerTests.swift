import Foundation
import GatewayKit
import GatewayTesting
import Listening
import Logging
import TestSupport
import Testing
import Vitals

@testable import HTTP

/// The listener itself: its configuration, TLS, its end.
@Suite(.timeLimit(.minutes(3))) struct ListenerTests {
    private static func words(_ members: KeyValuePairs<String, String>) -> ConfigurationValue {
        .section(members, isQuoted: true)
    }

    @Test(arguments: [("0.0.0.0:8480", false), ("[::]:8480", false), ("127.0.0.1:8480", true), ("[::1]:0", true)])
    func `beyond this machine it needs TLS`(address: String, isRight: Bool) {
        var reader = ConfigurationReader(Self.words(["listen": address]))
        _ = HTTPListener(options: &reader)
        #expect(reader.finish().isEmpty == isRight)
        var insecure = ConfigurationReader(Self.words(["listen": address, "insecure": "true"]))
        _ = HTTPListener(options: &insecure)
        #expect(insecure.finish().isEmpty)
    }

    @Test func `a device needs a token`() {
        var reader = ConfigurationReader(Self.words([:]))
        _ = HTTPTransport(options: &reader)
        #expect(reader.finish().map(\.message).contains { $0.contains("token is missing") })
        var plain = ConfigurationReader(Self.words(["token": "here"]))
        _ = HTTPTransport(options: &plain)
        #expect(plain.finish().map(\.message).contains { $0.contains("must not be written here") })
    }

    @Test func `TLS works on a real socket, and plain HTTP does not then`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "vitals2mqtt-http-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let certificates = try await Certificates.make(in: folder.path())
        let tls = Self.words(["certificate": certificates.server, "key": certificates.serverKey])
        try await Office.with(["tls": tls]) { office in
            try office.expect("phone-1", token: "one")
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await office.serve("phone-1", token: "one") }
                let path = "/v1/devices/phone-1"
                let trusted = ["--cacert", certificates.ca]
                let good = try await office.post(path, token: "one", [32], more: trusted)
                #expect(good.status == 200)
                let old = trusted + ["--tls-max", "1.1"]
                await #expect(throws: Unexpected.self) { try await office.post(path, token: "one", [32], more: old) }
                let other = ["--cacert", certificates.otherCA]
                await #expect(throws: Unexpected.self) { try await office.post(path, token: "one", [32], more: other) }
                let plain = Office(listener: office.listener, services: office.services, port: office.port)
                await #expect(throws: Unexpected.self) { try await plain.post(path, token: "one") }
                group.cancelAll()
            }
        }
        let wrong = Self.words(["certificate": certificates.server, "key": certificates.clientKey])
        await #expect(throws: (any Error).self) { try await Office.with(["tls": wrong]) { _ in } }
    }

    @Test func `a sender that does not trust the certificate, or speaks plain HTTP, is noted at doubling counts`()
        async throws
    {
        let folder = FileManager.default.temporaryDirectory.appending(path: "vitals2mqtt-trust-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let certificates = try await Certificates.make(in: folder.path())
        let tls = Self.words(["certificate": certificates.server, "key": certificates.serverKey])
        let log = LogRecorder()
        try await Office.with(["tls": tls], logger: log.logger) { office in
            let plain = Office(listener: office.listener, services: office.services, port: office.port)
            for number in 1...4 {
                let sender = number.isMultiple(of: 2) ? plain : office
                await #expect(throws: Unexpected.self) { try await sender.post("/v1/devices/phone-1", token: "one") }
            }
            try await log.wait { entries in entries.count { $0.message == HandshakeLog.message } == 3 }
        }
        let lines = log.entries.filter { $0.message == HandshakeLog.message }
        #expect(lines.map { $0.metadata["count"] } == ["1", "2", "4"])
        #expect(lines.allSatisfy { $0.level == .notice && $0.metadata["sender"] == "127.0.0.1" })
    }

    @Test func `a port in use is said, and a stop does not wait for an idle connection`() async throws {
        try await Office.with { office in
            let address = ConfigurationValue(.scalar("127.0.0.1:\(office.port)", isQuoted: true))
            var reader = ConfigurationReader(ConfigurationValue(.map([(ConfigurationKey("listen"), address)])))
            let second = HTTPListener(options: &reader)
            let context = ServiceContext(clock: .system, logger: Logger(label: "test"))
            await #expect {
                try await second.withService(context: context) {}
            } throws: {
                "\($0)".contains("another program listens there")
            }
        }
        let client = """
            import socket, time
            s = socket.create_connection(("127.0.0.1", PORT))
            s.sendall(b"POST /v1/devices/x HTTP/1.1\\r\\nHost: x\\r\\n")
            print("connected", flush=True)
            time.sleep(60)
            """
        let stopped = Recorder<ContinuousClock.Instant>()
        try await withPrograms { programs in
            try await Office.with { office in
                let idle = programs.start("python3", ["-c", client.replacing("PORT", with: "\(office.port)")])
                try await idle.events.wait(within: .seconds(20)) { $0.contains(.line("connected")) }
                stopped.append(.now)
            }
            // The deadline of a head would close the connection after ten seconds, and the client after a minute.
            let begin = try #require(stopped.elements.first)
            #expect(ContinuousClock.now - begin < .seconds(5))
        }
    }
}
