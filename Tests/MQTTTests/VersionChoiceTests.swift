import Dispatch
import Glibc
import Logging
import MQTT
import TestSupport
import Testing

@testable import Mosquitto

/// A server of loopback that answers CONNECT by a rule, one connection after the other, and then acknowledges nothing.
private final class ScriptedServer: Sendable {
    let address: BrokerServer
    /// The protocol levels that were offered: 5, or 4 for MQTT 3.1.1.
    let offers = Recorder<UInt8>()
    /// What came after CONNECT on each accepted connection that has ended.
    let received = Recorder<[UInt8]>()
    private let listener: Int32
    private let answer: @Sendable ([UInt8]) -> [UInt8]?

    /// - Parameter answer: gets the levels so far; `nil` accepts the last one, bytes are sent before the connection is closed.
    init(_ answer: @escaping @Sendable ([UInt8]) -> [UInt8]?) throws {
        self.answer = answer
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isOpen = withUnsafeMutablePointer(to: &place) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { place in
                bind(listener, place, size) == 0 && listen(listener, 8) == 0 && getsockname(listener, place, &size) == 0
            }
        }
        try #require(isOpen)
        self.listener = listener
        address = BrokerServer(host: "127.0.0.1", port: Int(UInt16(bigEndian: place.sin_port)))
        DispatchQueue(label: "scripted-server").async { self.run() }
    }

    /// Refuses every connection from now on.
    func end() { shutdown(listener, Int32(SHUT_RDWR)) }

    private func run() {
        while true {
            let client = accept(listener, nil, nil)
            guard client >= 0 else { break }
            serve(client)
            close(client)
        }
        close(listener)
    }

    private func serve(_ client: Int32) {
        var bytes: [UInt8] = []
        // CONNECT of these tests has one byte of length; the level is the byte after the name of the protocol.
        while bytes.count < 2 || bytes.count < Int(bytes[1]) + 2 {
            guard let more = read(from: client) else { return }
            bytes += more
        }
        let level = bytes[8]
        offers.append(level)
        if let refusal = answer(offers.elements) {
            _ = write(client, refusal, refusal.count)
            return
        }
        let connack: [UInt8] = level == 5 ? [0x20, 3, 0, 0, 0] : [0x20, 2, 0, 0]
        _ = write(client, connack, connack.count)
        var rest: [UInt8] = []
        while let more = read(from: client) { rest += more }
        received.append(rest)
    }

    private func read(from client: Int32) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = recv(client, &buffer, buffer.count, 0)
        return count > 0 ? Array(buffer.prefix(count)) : nil
    }
}

@Suite(.timeLimit(.minutes(2))) struct VersionNegotiationTests {
    /// A CONNACK of MQTT 5 with the reason 0x84, and one of older brokers with the return code 1.
    private static let refusals: [[UInt8]] = [[0x20, 3, 0, 0x84, 0], [0x20, 2, 0, 1]]
    private let log = LogRecorder()

    private func broker(
        _ servers: [ScriptedServer], _ version: MQTTVersion? = nil, library: LibraryVersion = .mended
    ) throws -> MosquittoBroker {
        try MosquittoBroker(
            BrokerOptions(servers: servers.map(\.address), clientID: "g", version: version), logger: log.logger,
            library: library)
    }

    /// Connects once, and returns the version of the connection.
    private func connect(_ broker: MosquittoBroker) async throws -> MQTTVersion? {
        let versions = Recorder<MQTTVersion>()
        try await broker.withConnection { versions.append($0.version) }
        return versions.elements.first
    }

    private func warnings(with text: String) -> Int {
        log.entries.count { $0.level == .warning && $0.message.contains(text) }
    }

    @Test(arguments: refusals)
    func `a broker that refuses MQTT 5 gets 3.1.1 at once and from then on, and the log says once what is lost`(
        refusal: [UInt8]
    ) async throws {
        let server = try ScriptedServer { $0.last == 5 ? refusal : nil }
        defer { server.end() }
        let broker = try broker([server])
        for _ in 0..<3 {
            let version = try await connect(broker)
            #expect(version == .v311)
        }
        #expect(server.offers.elements == [5, 4, 4, 4])
        #expect(warnings(with: MQTTVersion.lossOf311) == 1)
    }

    @Test func `a broker that closes the connection at MQTT 5 gets 3.1.1, and is offered 5 again the next time`()
        async throws
    {
        let server = try ScriptedServer { $0.last == 5 ? [] : nil }
        defer { server.end() }
        let broker = try broker([server])
        for _ in 0..<2 {
            let version = try await connect(broker)
            #expect(version == .v311)
        }
        #expect(server.offers.elements == [5, 4, 5, 4])
        #expect(warnings(with: MQTTVersion.lossOf311) == 1)
    }

    @Test func `a broker that takes MQTT 5 is offered nothing else, also when it closes a later connection`()
        async throws
    {
        let server = try ScriptedServer { $0.count == 2 ? [] : nil }
        defer { server.end() }
        let broker = try broker([server])
        let first = try await connect(broker)
        let error = await brokerError { _ = try await connect(broker) }
        let third = try await connect(broker)
        #expect(first == .v5 && third == .v5 && error?.code == .unreachable)
        #expect(server.offers.elements == [5, 5, 5])
        #expect(log.entries.allSatisfy { $0.level < .warning })
    }

    @Test func `a broker that refuses both versions gets one attempt with each, and both again later`() async throws {
        let server = try ScriptedServer { $0.last == 5 ? [0x20, 3, 0, 0x84, 0] : [0x20, 2, 0, 1] }
        defer { server.end() }
        let broker = try broker([server])
        for _ in 0..<2 {
            let error = await brokerError { _ = try await connect(broker) }
            #expect(error?.code == .unsupportedVersion)
        }
        #expect(server.offers.elements == [5, 4, 5, 4])
    }

    @Test func `a refused password is not tried with the other version`() async throws {
        let server = try ScriptedServer { _ in [0x20, 3, 0, 0x86, 0] }
        defer { server.end() }
        let broker = try broker([server])
        let error = await brokerError { _ = try await connect(broker) }
        #expect(error?.code == .badCredentials)
        #expect(server.offers.elements == [5])
    }

    @Test func `each server of a list has its own version`() async throws {
        let old = try ScriptedServer { $0.last == 5 ? [0x20, 2, 0, 1] : nil }
        let new = try ScriptedServer { _ in nil }
        defer { new.end() }
        let broker = try broker([old, new])
        let first = try await connect(broker)
        old.end()
        _ = await brokerError { _ = try await connect(broker) }
        let second = try await connect(broker)
        #expect(first == .v311 && second == .v5)
        #expect(old.offers.elements.prefix(2) == [5, 4] && new.offers.elements == [5])
    }

    @Test func `what is sent follows the version of the connection`() async throws {
        let server = try ScriptedServer { $0.last == 5 ? [0x20, 2, 0, 1] : nil }
        defer { server.end() }
        let message = OutgoingMessage(
            topic: "t", payload: Array("abc".utf8), expiry: .seconds(60), contentType: "text/plain")
        try await broker([server]).withConnection { try $0.publish(message) }
        let received = try await server.received.wait(within: .seconds(20)) { !$0.isEmpty }
        // PUBLISH with quality of service 1, its length, the topic, the identifier and the payload: no properties.
        #expect(received.first?.prefix(10) == [0x32, 8, 0, 1, 0x74, 0, 1, 0x61, 0x62, 0x63])
    }

    @Test func `with an old library auto speaks 3.1.1 from the start, and the log says why`() async throws {
        let server = try ScriptedServer { _ in nil }
        defer { server.end() }
        let broker = try broker([server], library: LibraryVersion(2, 0, 11))
        for _ in 0..<2 {
            let version = try await connect(broker)
            #expect(version == .v311)
        }
        #expect(server.offers.elements == [4, 4])
        #expect(warnings(with: "libmosquitto 2.0.11") == 1)
        #expect(warnings(with: MQTTVersion.lossOf311) == 1)
    }

    @Test(arguments: MQTTVersion.allCases)
    func `a configured version is the only one that is offered, with any library`(
        version: MQTTVersion
    ) async throws {
        let server = try ScriptedServer { $0.count % 2 == 1 ? [0x20, 2, 0, 1] : nil }
        defer { server.end() }
        let broker = try broker([server], version, library: LibraryVersion(2, 0, 11))
        _ = await brokerError { _ = try await connect(broker) }
        let spoken = try await connect(broker)
        #expect(spoken == version)
        #expect(server.offers.elements == (version == .v5 ? [5, 5] : [4, 4]))
        #expect(warnings(with: "libmosquitto 2.0.11") == (version == .v5 ? 1 : 0))
    }
}

@Suite struct LibraryVersionTests {
    @Test(arguments: [
        (LibraryVersion(1, 6, 15), true), (LibraryVersion(2, 0, 0), true), (LibraryVersion(2, 0, 11), true),
        (LibraryVersion(2, 0, 15), true), (LibraryVersion(2, 0, 16), false), (LibraryVersion(2, 0, 18), false),
        (LibraryVersion(2, 0, 22), false), (LibraryVersion(2, 1, 0), false), (LibraryVersion(3, 0, 0), false),
    ]) func `versions before 2.0.16 end the program at unknown properties`(version: LibraryVersion, ends: Bool) {
        #expect(version.endsAtUnknownProperties == ends)
        #expect((version.notice(for: nil) != nil) == ends)
        #expect((version.notice(for: .v5) != nil) == ends)
        #expect(version.notice(for: .v311) == nil)
    }

    @Test func `the notice names the library, what is lost, and what may be set`() throws {
        let old = LibraryVersion(2, 0, 11)
        let notice = try #require(old.notice(for: nil))
        for words in ["libmosquitto 2.0.11", "2.0.16", MQTTVersion.lossOf311, "mqtt.protocol", "\"5\""] {
            #expect(notice.contains(words))
        }
        #expect(old.notice(for: .v5)?.contains("trusted") == true)
    }

    @Test func `the version of the library that is loaded is known`() {
        #expect(LibraryVersion.loaded > LibraryVersion(1, 5, 99) && LibraryVersion.loaded < LibraryVersion(100, 0, 0))
    }
}
