import GatewayKit
import GatewayTesting
import JSON
import Recordings
import TestSupport
import Testing
import Vitals

@testable import Replay

/// Streams of JSON-RPC that are played by calls.
@Suite struct ConversationTests {
    private static let initialize =
        #"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"gateway":{"version":"1"}}}"#
    private static let described = #"{"jsonrpc":"2.0","id":1,"result":{"protocol":1}}"#
    private static let read =
        #"{"jsonrpc":"2.0","id":2,"method":"history/read","params":{"metric":"steps","from":5,"page":null}}"#
    private static let page = #"{"jsonrpc":"2.0","id":2,"result":{"samples":[],"next":null}}"#
    private static let sample = #"{"jsonrpc":"2.0","method":"sample","params":{"sample":{"value":61}}}"#

    /// A line of the gateway (`true`) or the device, at a second.
    private static func event(_ second: Int, _ isSent: Bool, _ line: String) -> RecordedEvent {
        let bytes = RecordedBytes(Array("\(line)\n".utf8))
        return RecordedEvent(at: .seconds(second), line: second + 2, content: isSent ? .sent(bytes) : .received(bytes))
    }

    private static func link(_ events: [RecordedEvent]) throws -> RecordedLink {
        RecordedLink(
            number: 1, device: try #require(DeviceID("band-1")), driver: "link", kind: .bytes, opened: .seconds(1),
            events: events)
    }

    /// A session that began at one second, read the history, and got a sample at 20 s.
    private static func session(end: RecordedEnd? = .byDevice) throws -> RecordedLink {
        try link(
            [
                event(1, true, initialize), event(3, false, described), event(4, true, read), event(5, false, page),
                event(20, false, sample),
            ] + (end.map { [RecordedEvent(at: .seconds(30), line: 9, content: .end($0))] } ?? []))
    }

    private func play(
        _ recorded: RecordedLink, _ speed: Speed = .times(1), log: LogRecorder? = nil,
        _ body: @escaping @Sendable (ConversationLink, Simulation) async throws -> Void
    ) throws {
        let script = try #require(CallScript(recorded))
        let logger = log?.logger ?? SessionContext.testing(recorded.device, clock: .system).logger
        try Simulation.run(seed: 1, deadline: .hours(1)) { simulation in
            let link = ConversationLink(
                script, speed: speed, clock: simulation.gatewayClock, logger: logger)
            try await body(link, simulation)
        }
    }

    private static func write(_ line: String, to link: ConversationLink) async throws {
        try await link.write(Array("\(line)\n".utf8))
    }

    private static func line(_ link: ConversationLink) async throws -> String {
        String(decoding: try await link.read(atMost: 65_536), as: UTF8.self)
    }

    @Test(arguments: [(1, [2, 3, 19, 29]), (10, [0, 0, 1, 2])])
    func `each call gets its recorded answer, as late as it was, and the rest comes by itself`(
        factor: Int, seconds: [Int]
    ) throws {
        try play(try Self.session(), .times(factor)) { link, simulation in
            var times: [Int] = []
            for (call, expected) in [
                (Self.initialize, Self.described + "\n"), (Self.read, Self.page + "\n"), (nil, Self.sample + "\n"),
                (nil, ""),
            ] {
                if let call { try await Self.write(call, to: link) }
                #expect(try await Self.line(link) == expected)
                times.append(Int(simulation.uptime.components.seconds))
            }
            #expect(times == seconds)
        }
    }

    @Test func `without pauses everything comes at once, and the end after the last recorded call`() throws {
        try play(try Self.session(), .maximum) { link, simulation in
            try await Self.write(Self.initialize, to: link)
            #expect(try await Self.line(link) == "\(Self.described)\n\(Self.sample)\n")
            try await Self.write(Self.read, to: link)
            #expect(try await Self.line(link) == Self.page + "\n")
            #expect(try await Self.line(link).isEmpty)
            #expect(simulation.uptime == .zero)
        }
    }

    @Test func `calls in another order, with other ids, times and versions get their answers`() throws {
        try play(try Self.session(), .maximum) { link, _ in
            try await Self.write(
                #"{"jsonrpc":"2.0","id":7,"method":"history/read","params":{"from":99,"page":null,"metric":"steps"}}"#,
                to: link)
            let page = try JSONValue(parsing: Array(try await Self.line(link).split(separator: "\n")[0].utf8))
            #expect(page["id"]?.asInt == 7)
            #expect(page["result"]?["samples"]?.asArray == [])
            try await Self.write(
                #"{"jsonrpc":"2.0","id":8,"method":"initialize","params":{"gateway":{"version":"9"}}}"#, to: link)
            while true {
                let text = try await Self.line(link)
                guard !text.contains(#""id":8"#) else { break }
                try #require(!text.isEmpty)
            }
        }
    }

    @Test(arguments: [
        ("ping", "{}", #""result":{}"#), ("time/set", #"{"now":7}"#, #""result":{}"#),
        ("history/read", #"{"metric":"sleep","from":5,"page":null}"#, #""code":1"#),
        ("history/read", #"{"metric":"steps","from":5,"page":"2"}"#, #""code":1"#),
        ("history/read", #"{"metric":"steps","from":99,"page":null}"#, #""next":null"#),
    ]) func `a call that was not recorded is answered, and the link goes on`(
        method: String, params: String, expected: String
    ) throws {
        try play(try Self.session()) { link, _ in
            try await Self.write(#"{"jsonrpc":"2.0","id":9,"method":"\#(method)","params":\#(params)}"#, to: link)
            let text = try await Self.line(link)
            #expect(text.contains(expected) && text.contains(#""id":9"#), "\(text)")
        }
    }

    @Test func `a call that was recorded with other parameters is told with their names, once`() throws {
        let start =
            #"{"jsonrpc":"2.0","id":2,"method":"measurement/start","params":{"metric":"stress","duration_s":9}}"#
        let recorded = try Self.link([
            Self.event(1, true, Self.initialize), Self.event(2, false, Self.described), Self.event(3, true, start),
            Self.event(4, false, #"{"jsonrpc":"2.0","id":2,"result":{"measurement":"m-1"}}"#),
        ])
        let log = LogRecorder()
        try play(recorded, .maximum, log: log) { link, _ in
            try await Self.write(Self.initialize, to: link)
            #expect(try await Self.line(link) == Self.described + "\n")
            for id in [7, 8] {
                try await Self.write(
                    #"{"jsonrpc":"2.0","id":\#(id),"method":"measurement/start","params":{"metric":"stress","duration_s":30}}"#,
                    to: link)
                let text = try await Self.line(link)
                #expect(text.contains("The recording has this call with another duration_s."), "\(text)")
            }
            try await Self.write(#"{"jsonrpc":"2.0","id":9,"method":"measurement/stop","params":{}}"#, to: link)
            let text = try await Self.line(link)
            #expect(text.contains("The recording has no such call."), "\(text)")
        }
        let entries = log.entries.filter { $0.message == "The gateway makes a call that the recording does not have." }
        #expect(entries.map { $0.metadata["link.method"] } == ["measurement/start", "measurement/stop"])
        #expect(entries.map { $0.metadata["link.differs"] } == ["duration_s", nil])
    }

    @Test func `a call that is repeated gets the same answer again`() throws {
        try play(try Self.session()) { link, _ in
            for _ in 0..<3 {
                try await Self.write(Self.read, to: link)
                #expect(try await Self.line(link) == Self.page + "\n")
            }
        }
    }

    @Test func `a gateway that does not repeat the calls gets the end after ten quiet seconds`() throws {
        try play(try Self.session(), .maximum) { link, simulation in
            try await Self.write(Self.initialize, to: link)
            var text = try await Self.line(link)
            while !text.contains("sample\"") { text += try await Self.line(link) }
            #expect(try await Self.line(link).isEmpty)
            #expect(simulation.uptime == ConversationState.quiet)
        }
    }

    @Test(arguments: [
        (RecordedEnd?.none, LinkError.Code.ended), (.byGateway, .ended), (.broken(LinkError(.broken, "gone")), .broken),
    ]) func `the link ends as it had ended`(end: RecordedEnd?, code: LinkError.Code) throws {
        try play(try Self.session(end: end), .maximum) { link, _ in
            try await Self.write(Self.initialize, to: link)
            let error = await #expect(throws: LinkError.self) { while true { _ = try await Self.line(link) } }
            #expect(error?.code == code)
        }
    }

    @Test func `damaged lines of a device are played as they came, in pieces as small as they are read`() throws {
        let recorded = try Self.link([
            Self.event(1, true, Self.initialize), Self.event(2, false, Self.described),
            Self.event(3, false, "{\"half"),
            RecordedEvent(at: .seconds(4), line: 6, content: .received(RecordedBytes([0xff, 0]))),
        ])
        try play(recorded) { link, _ in
            try await Self.write(Self.initialize, to: link)
            var all: [UInt8] = []
            while let bytes = try? await link.read(atMost: 3) {
                #expect((1...3).contains(bytes.count))
                all += bytes
            }
            #expect(all == Array("\(Self.described)\n{\"half\n".utf8) + [0xff, 0])
        }
    }

    @Test func `a measurement reports its samples when it is commanded again, and else not`() throws {
        let start =
            #"{"jsonrpc":"2.0","id":2,"method":"measurement/start","params":{"metric":"stress","duration_s":9}}"#
        let reading = #"{"jsonrpc":"2.0","method":"measurement/sample","params":{"measurement":"m-1","sample":{}}}"#
        let recorded = try Self.link([
            Self.event(1, true, Self.initialize), Self.event(2, false, Self.described), Self.event(10, true, start),
            Self.event(11, false, #"{"jsonrpc":"2.0","id":2,"result":{"measurement":"m-1"}}"#),
            Self.event(14, false, reading), Self.event(20, false, Self.sample),
        ])
        try play(recorded) { link, simulation in
            try await Self.write(Self.initialize, to: link)
            #expect(try await Self.line(link) == Self.described + "\n")
            #expect(try await Self.line(link) == Self.sample + "\n")
            #expect(simulation.uptime == .seconds(19))
            try await Self.write(start, to: link)
            #expect(try await Self.line(link).contains(#""measurement":"m-1""#))
            #expect(try await Self.line(link) == reading + "\n")
            #expect(simulation.uptime == .seconds(23))
        }
    }

    @Test func `a line without end is refused`() throws {
        try play(try Self.session()) { link, _ in
            await #expect(throws: LinkError.self) {
                try await link.write([UInt8](repeating: 7, count: ConversationState.longestLine + 1))
            }
        }
    }

    @Test func `a stream that is no JSON-RPC has no calls`() throws {
        #expect(CallScript(try Self.link([Self.event(1, true, "AT+HR?")])) == nil)
        #expect(CallScript(try Self.link([Self.event(1, false, Self.sample)])) == nil)
    }
}
