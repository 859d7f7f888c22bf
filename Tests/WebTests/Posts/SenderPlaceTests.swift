import Foundation
import GatewayKit
import Listening
import Logging
import TestSupport
import Testing
import Vitals

@testable import Web

/// Who gets a connection while others hold many, at the real listener.
@Suite(.timeLimit(.minutes(3))) struct SenderPlaceTests {
    /// So long that no connection ends by itself.
    private static let headTime: Duration = .minutes(5)
    private static let path = "/v1/devices/phone-1"
    private static let slowHead = "POST \(path) HTTP/1.1\r\n"
    /// The right token, and no document.
    private static let slowBody =
        "POST \(path) HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer one\r\nContent-Type: application/json\r\n"
        + "Content-Length: 2\r\n\r\n"
    /// Two seconds, and more for a busy machine.
    private static let soon: Duration = .seconds(20)

    private static func proxies(_ text: String) -> KeyValuePairs<String, ConfigurationValue> {
        ["trusted_proxies": ConfigurationValue(.scalar(text, isQuoted: true))]
    }

    /// Waits until so many strangers, and so many connections with a token are there.
    private func wait(_ office: Office, strangers: Int = 0, proven: Int = 0) async {
        while !Task.isCancelled {
            let counts = office.counts
            if counts.strangers == strangers, counts.proven == proven { return }
            await Task.yield()
        }
    }

    /// Runs `body` while a phone is served. All places are given back after it.
    private func withPhone(
        _ options: KeyValuePairs<String, ConfigurationValue> = [:], logger: LogRecorder = LogRecorder(),
        _ body: @escaping @Sendable (Office, SlowClients) async throws -> Void
    ) async throws {
        try await Office.with(options, headTime: Self.headTime, logger: logger.logger) { office in
            try office.expect("phone-1", token: "one")
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await office.serve("phone-1", token: "one") }
                defer { group.cancelAll() }
                try await SlowClients.with(port: office.port) { try await body(office, $0) }
            }
            await wait(office)
            #expect(office.counts.addresses == 0)
        }
    }

    private func post(_ office: Office, from source: String) async throws -> Office.Answer {
        try await withRealDeadline(Self.soon) {
            try await office.post(Self.path, token: "one", from: source)
        } orThrow: {
            Unexpected(text: "no answer in time")
        }
    }

    @Test func `an address that holds all that it may does not keep out another one`() async throws {
        let log = LogRecorder()
        try await withPhone(logger: log) { office, senders in
            senders.begin(60, from: "127.0.0.2", Self.slowHead)
            let refused = 60 - WebConnections.strangersPerAddress
            let answers = try await senders.answers.wait { $0.count == refused }
            let answer = try #require(answers.first(where: { $0.hasPrefix("HTTP/1.1 503 ") })).lowercased()
            #expect(answer.contains("retry-after: 10") && answer.contains("too many connections of this address"))
            #expect(try await post(office, from: "127.0.0.3").status == 200)
            // The others hold on.
            #expect(office.counts.strangers == WebConnections.strangersPerAddress)
        }
        let lines = log.entries.filter { $0.message == "Connections were refused." }
        #expect(lines.map { $0.metadata["count"] } == ["1", "2", "4", "8", "16", "32"])
        #expect(lines.allSatisfy { $0.level == .notice && $0.metadata["sender"] == "127.0.0.2" })
    }

    @Test func `with TLS a slow handshake counts as a stranger, and a refused connection only ends`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "vitals2mqtt-places-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let certificates = try await Certificates.make(in: folder.path())
        let tls = ConfigurationValue.section(
            ["certificate": certificates.server, "key": certificates.serverKey], isQuoted: true)
        try await withPhone(["tls": tls]) { office, senders in
            // A record of 512 bytes, of which one comes.
            senders.begin(WebConnections.strangersPerAddress + 20, from: "127.0.0.2", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}")
            let answers = try await senders.answers.wait { $0.count == 20 }
            #expect(!answers.contains { $0.hasPrefix("HTTP") })
            let answer = try await office.post(
                Self.path, token: "one", from: "127.0.0.3", more: ["--cacert", certificates.ca])
            #expect(answer.status == 200)
            #expect(office.counts.strangers == WebConnections.strangersPerAddress)
        }
    }

    @Test func `connections with a right token do not count as strangers, and an address has half of all at most`()
        async throws
    {
        try await withPhone { office, senders in
            for number in 1...WebConnections.provenPerAddress {
                senders.begin(1, from: "127.0.0.2", Self.slowBody)
                await wait(office, proven: number)
            }
            let refused = try await post(office, from: "127.0.0.2")
            #expect((refused.status, refused.code ?? "") == (503, "unavailable"))
            await wait(office, proven: WebConnections.provenPerAddress)
            senders.begin(WebConnections.strangersPerAddress + 1, from: "127.0.0.2", Self.slowHead)
            try await senders.answers.wait { $0.count == 1 }
            #expect(try await post(office, from: "127.0.0.3").status == 200)
            await wait(
                office, strangers: WebConnections.strangersPerAddress, proven: WebConnections.provenPerAddress)
        }
    }

    @Test func `strangers leave a quarter of the connections to devices`() {
        let shares = WebConnections(
            behind: TrustedProxies(), isEncrypted: false, clock: .system, logger: Logger(label: "test")
        ).gate.shares
        var tickets: [ConnectionShares.Ticket] = []
        for number in 0..<WebConnections.maximum {
            let address = "192.0.2.\(number / WebConnections.strangersPerAddress)"
            if let ticket = try? shares.admit(address) { tickets.append(ticket) }
        }
        #expect(tickets.count == WebConnections.maximum * 3 / 4)
        #expect(!shares.hasRoom)
        for ticket in tickets.prefix(WebConnections.maximum / 4) { try? shares.prove(ticket) }
        #expect(shares.hasRoom)
        for number in 0..<WebConnections.maximum { _ = try? shares.admit("198.51.100.\(number)") }
        let counts = shares.counts
        #expect(counts.strangers + counts.proven == WebConnections.maximum)
        #expect(!shares.hasRoom)
    }

    @Test func `the address that a trusted proxy names has to wait for its guesses, and not one that a sender forges`()
        async throws
    {
        // A wait of a second is ten here, for a slow machine.
        let options = Self.proxies("127.0.0.3")
        try await Office.with(options, clock: .scaled(by: 0.1)) { office in
            try office.expect("phone-1", token: "one")
            func status(_ token: String, from source: String, for name: String) async throws -> Int {
                try await office.post(
                    Self.path, token: token, type: "text/csv", from: source,
                    more: ["--header", "X-Forwarded-For: \(name)"]
                ).status
            }
            // 415 is the answer to the right token.
            #expect(try await status("wrong", from: "127.0.0.3", for: "192.0.2.9, 192.0.2.1") == 401)
            #expect(try await status("one", from: "127.0.0.3", for: "192.0.2.9, 192.0.2.1") == 429)
            #expect(try await status("one", from: "127.0.0.3", for: "192.0.2.1, 192.0.2.9") == 415)
            // Rubbish is the proxy's own.
            #expect(try await status("wrong", from: "127.0.0.3", for: "192.0.2.2, anna") == 401)
            #expect(try await status("one", from: "127.0.0.3", for: "ben") == 429)
            #expect(try await status("one", from: "127.0.0.3", for: "192.0.2.2") == 415)
            // Nobody else names another address than its own.
            #expect(try await status("wrong", from: "127.0.0.4", for: "192.0.2.3") == 401)
            #expect(try await status("one", from: "127.0.0.4", for: "192.0.2.4") == 429)
            #expect(try await status("one", from: "127.0.0.3", for: "192.0.2.3") == 415)
        }
    }

    @Test func `a trusted proxy has more connections than an address may have`() async throws {
        try await withPhone(Self.proxies("127.0.0.0/29")) { office, senders in
            let count = WebConnections.strangersPerAddress + 4
            senders.begin(count, from: "127.0.0.3", Self.slowHead)
            await wait(office, strangers: count)
            let answer = try await office.post(
                Self.path, token: "one", from: "127.0.0.3", more: ["--header", "Forwarded: for=\"[2001:db8::1]:80\""])
            #expect(answer.status == 200)
            #expect(senders.answers.elements.isEmpty)
        }
    }

    @Test func `a wrong proxy in the configuration is an error that says what is right`() {
        for text in ["proxy.local", "192.0.2.0/33", "0.0.0.0/0", "2001:db8::/129", "192.0.2.1/", "1.2.3/8"] {
            var reader = ConfigurationReader(.section(["trusted_proxies": text], isQuoted: true))
            _ = WebConfiguration(&reader)
            let issues = reader.finish()
            #expect(issues.map(\.path) == ["trusted_proxies"])
            #expect(issues.first?.message.hasPrefix("\(text) is no address such as 192.0.2.1") == true, "\(issues)")
        }
        let many = (0...TrustedProxies.maximumEntries).map {
            ConfigurationValue(.scalar("192.0.2.\($0)", isQuoted: true))
        }
        for (list, issues) in [(many, 1), (Array(many.dropFirst()), 0)] {
            let members = [(ConfigurationKey("trusted_proxies"), ConfigurationValue(.list(list)))]
            var reader = ConfigurationReader(ConfigurationValue(.map(members)))
            _ = WebConfiguration(&reader)
            #expect(reader.finish().count == issues)
        }
    }
}
