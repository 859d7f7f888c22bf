import GatewayKit
import TestSupport
import Testing
import Vitals

@testable import Recordings

/// Damaged files, by seeds. `Tests/Fuzz/run` searches for further ones.
@Suite struct RecordingMutationTests {
    /// The files of `Inputs`.
    private static let inputs = (try? FuzzInputs().all()) ?? []

    /// Words that a reader may stumble over.
    private static let words = [
        "-1", "0", "1e400", "18446744073709551616", "9007199254740993", "null", "[]", "{}", "\"\"", "true", "\n",
        "[[0,9223372036854775807]]", "\\ud800", "\"gatt\"", "\"value\"", "65536",
    ]

    private static func changed(_ bytes: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...3, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            let end = min(bytes.count, place + Int.random(in: 0...8, using: &random))
            switch Int.random(in: 0..<6, using: &random) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.removeSubrange(place..<end)
            case 2: bytes.insert(contentsOf: Array((words.randomElement(using: &random) ?? "").utf8), at: place)
            case 3: bytes.replaceSubrange(place..<end, with: Array((words.randomElement(using: &random) ?? "").utf8))
            case 4: bytes = Array(bytes[..<place])
            default:
                var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
                lines.swapAt(
                    Int.random(in: 0..<lines.count, using: &random), Int.random(in: 0..<lines.count, using: &random))
                bytes = Array(lines.joined(separator: [UInt8(ascii: "\n")]))
            }
        }
        return bytes
    }

    @Test func `the examples are read, and each beginning of them up to a whole line`() throws {
        #expect(Self.inputs.count >= 2)
        for input in Self.inputs {
            _ = try Recording(input, path: "file")
            for end in input.indices where input[end] == UInt8(ascii: "\n") {
                _ = try Recording(Array(input[...end]), path: "file")
            }
        }
    }

    @Test(arguments: 0..<20)
    func `a damaged file is refused by its name, or read as what it says`(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        for _ in 0..<300 {
            guard let input = Self.inputs.randomElement(using: &random) else { return }
            let issues = RecordingInput.issues(in: Self.changed(input, &random))
            #expect(issues.isEmpty, "seed \(seed)")
        }
    }

    @Test(arguments: 0..<20)
    func `whatever is recorded is read again`(seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed))
        let recording = try RandomRecording.make(&random)
        let again = try Recording(RecordingInput.text(of: recording), path: "file")
        #expect(RecordingInput.unnumbered(again) == RecordingInput.unnumbered(recording))
    }
}
