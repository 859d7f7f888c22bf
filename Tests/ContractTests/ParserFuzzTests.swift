import Contract
import JSON
import MQTT
import TestSupport
import Testing
import Vitals

@Suite struct ParserFuzzTests {
    static let topics =
        CommandParserTests.commands.map { "ring-1/command/\($0.topic)" }
        + CommandParserTests.gatewayCommands.map { "gateway/command/\($0.topic)" } + ["ring-1/config/set"]
    static let payloads =
        CommandParserTests.commands.map(\.payload) + CommandParserTests.gatewayCommands.map(\.payload)
        + ConfigurationPatchTests.issues.map(\.payload) + CommandRejectionTests.issues.map(\.payload)

    private static let inputs = FuzzInputs()

    @Test func `finds the inputs`() { #expect(Self.inputs.names.count >= 14) }

    @Test(arguments: inputs.names) func `takes what fuzzing begins with, and what once failed`(name: String) throws {
        #expect(CommandInput.issues(in: try Self.inputs.bytes(name)) == [])
    }

    /// Bytes with a meaning in the grammar.
    static let alphabet = Array("{}[]\",:\\0123456789.eE+-nulltruefalse \n\u{1}".utf8) + [0x00, 0xC3, 0xED, 0xFF]

    @Test(arguments: [UInt64](0..<64))
    func `never traps, and answers everything that is ours`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<100 {
            let topic = try #require(Self.topics.randomElement(using: &random))
            var payload = Array(try #require(Self.payloads.randomElement(using: &random)).utf8)
            for _ in 0..<Int.random(in: 1...6, using: &random) { Self.mutate(&payload, &random) }
            let incoming = Examples.parser.parse(
                topic: "vitals2mqtt/home/\(topic)", payload: payload, isRetained: false, receivedAt: Examples.now)
            switch incoming {
            case .ignored: Issue.record("ignored \(topic) \(payload)")
            case .device(_, let envelope): #expect(envelope.device == Examples.device)
            case .passkey(_, let envelope): #expect(envelope.device == Examples.device)
            case .gateway(_, let envelope): #expect(envelope.device == nil)
            case .rejected(let answer, let envelope, _):
                #expect(answer.code != nil && answer.status != .accepted && answer.status != .done)
                #expect(answer.violations.isEmpty || answer.code == .invalid)
                var encoder = Examples.encoder
                let message = encoder.answer(answer, to: envelope, about: nil, at: Examples.now)
                _ = try JSONValue(parsing: message.payload)
            }
        }
    }

    @Test(arguments: [UInt64](0..<16))
    func `takes no topic for a command that is none`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<100 {
            var topic = Array("vitals2mqtt/home/ring-1/command/sync".utf8)
            Self.mutate(&topic, &random)
            let text = String(decoding: topic, as: UTF8.self)
            let incoming = Examples.parser.parse(topic: text, payload: [], isRetained: false, receivedAt: Examples.now)
            if case .device(let command, let envelope) = incoming {
                #expect(text == "vitals2mqtt/home/\(envelope.device?.text ?? "")/command/\(command.name)")
            }
        }
    }

    private static func mutate(_ bytes: inout [UInt8], _ random: inout SplitMix64) {
        let position = Int.random(in: 0...bytes.count, using: &random)
        let byte = alphabet.randomElement(using: &random) ?? 0
        switch Int.random(in: 0..<5, using: &random) {
        case 0: bytes.insert(byte, at: position)
        case 1 where position < bytes.count: bytes[position] = byte
        case 2 where position < bytes.count: bytes.remove(at: position)
        case 3: bytes.removeSubrange(position...)
        default: bytes.insert(contentsOf: bytes[..<position].suffix(12), at: position)
        }
    }
}
