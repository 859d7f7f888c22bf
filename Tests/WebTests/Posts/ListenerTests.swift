import Concurrency
import Foundation
import GatewayKit
import GatewayTesting
import Listening
import Logging
import TestSupport
import Testing
import Vitals

@testable import Web

/// The listener itself, with phones: TLS, a port in use, its end.
@Suite(.timeLimit(.minutes(3))) struct ListenerTests {
    private static func words(_ members: KeyValuePairs<String, String>) -> ConfigurationValue {
        .section(members, isQuoted: true)
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
                let plain = Office(server: office.server, settings: office.settings, port: office.port)
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
            let plain = Office(server: office.server, settings: office.settings, port: office.port)
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
            let second = WebServer(settings: WebServer.Settings(clock: .system, logger: Logger(label: "test"))) { _ in
                Router([])
            }
            let taken = try webConfiguration(listen: "127.0.0.1:\(office.port)")
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await second.run(nil) }
                defer { second.stop() }
                await #expect {
                    try await second.change(to: taken)
                } throws: {
                    "\($0)".contains("another program listens there")
                }
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

    @Test func `a changed listener moves while devices wait, and posts in flight are answered`() async throws {
        try await Office.with { office in
            try office.expect("phone-1", token: "one")
            let (taken, moved) = (Promise<Void>(), Promise<Void>())
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await office.connect("phone-1", token: "one") { link in
                        let first = try await link.next()
                        taken.fulfil(())
                        try await moved.wait()
                        first.answer(.stored(DocumentReport()))
                        while true { try await link.next().answer(.stored(DocumentReport())) }
                    }
                }
                let post = { @Sendable (office: Office) async throws -> Office.Answer in
                    try await office.post("/v1/devices/phone-1", token: "one")
                }
                async let early = post(office)
                try await taken.wait()
                let proxy = ConfigurationValue(.scalar("192.0.2.1", isQuoted: true))
                try await office.server.change(to: try webConfiguration(["trusted_proxies": proxy]))
                let answer = try await early
                #expect((answer.status, answer.code ?? "") == (503, "unavailable"))
                #expect(answer.headers.contains("retry-after: 10"))
                moved.fulfil(())
                let port = try #require(office.server.port)
                #expect(port != office.port)
                let elsewhere = Office(server: office.server, settings: office.settings, port: port)
                // The device's session is the same.
                let late = try await post(elsewhere)
                #expect(late.status == 200)
                group.cancelAll()
            }
        }
    }

    @Test func `a listener that is not open is said by the links of its devices, and they are back as soon as it is`()
        async throws
    {
        let (senders, presence, seen) = (ExpectedSenders(), DevicePresence(), Recorder<Void>())
        let device = try #require(DeviceID("phone-1"))
        presence.whenSeen { seen.append(()) }
        senders.failed("web: it is taken")
        let connect = { @Sendable () async throws -> Void in
            try await senders.withDocuments(
                of: device, token: Secret("one"), presence: presence, clock: .system
            ) { _ in }
        }
        await #expect(throws: LinkError(.unreachable, "web: it is taken")) { try await connect() }
        #expect(seen.elements.isEmpty)
        senders.opened()
        #expect(seen.elements.count == 1)
        // Further ones mean nothing to those that wait.
        presence.whenSeen { seen.append(()) }
        senders.opened()
        #expect(seen.elements.count == 1)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await #expect {
                    try await connect()
                } throws: {
                    "\($0)".contains("web: it broke")
                }
            }
            senders.failed("web: it broke")
        }
    }
}
