import Foundation
import Testing
import Vitals

@testable import Phones

/// Damaged documents must neither trap nor yield impossible samples.
@Suite struct DocumentFuzzTests {
    private static let seeds: [UInt64] = Array(1...8)
    private static var inputs: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: Phone.folder.appending(path: "Inputs").path()))?.sorted()
            ?? []
    }

    @Test func `finds the inputs`() { #expect(Self.inputs.count >= 3) }

    @Test(arguments: inputs) func `takes what fuzzing begins with, and what once failed`(name: String) throws {
        let bytes = [UInt8](try Data(contentsOf: Phone.folder.appending(path: "Inputs/\(name)")))
        #expect(DocumentInput.issues(in: bytes, of: HealthAutoExport.self) == [])
        #expect(DocumentInput.issues(in: bytes, of: HealthConnectWebhook.self) == [])
    }

    @Test(arguments: seeds) func `never traps on damaged documents`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let exported = try Phone.document("health-auto-export.json")
        let posted = try Phone.document("health-connect-webhook.json")
        var (readable, unreadable) = (0, 0)
        for _ in 0..<300 {
            var (one, other) = (exported, posted)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                damage(&one, &random)
                damage(&other, &random)
            }
            #expect(DocumentInput.issues(in: one, of: HealthAutoExport.self) == [])
            #expect(DocumentInput.issues(in: other, of: HealthConnectWebhook.self) == [])
            for isReadable in [
                (try? HealthAutoExport.records(of: one, calendar: Phone.berlin, source: nil)) != nil,
                (try? HealthConnectWebhook.records(of: other, calendar: Phone.berlin, source: nil)) != nil,
            ] {
                if isReadable { readable += 1 } else { unreadable += 1 }
            }
        }
        // Both sides of the readers were tried.
        #expect(readable > 50 && unreadable > 50, "\(readable) \(unreadable)")
    }

    private func damage(_ bytes: inout [UInt8], _ random: inout SplitMix64) {
        guard !bytes.isEmpty else { return }
        let position = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: bytes.remove(at: position)
        case 2: bytes.insert("0123456789-e.\"{}[],:\n".utf8.randomElement(using: &random) ?? 0, at: position)
        case 3: bytes.removeSubrange(position..<min(position + 9, bytes.count))
        // A digit instead of another keeps the grammar.
        case 4: if (48...57).contains(bytes[position]) { bytes[position] = UInt8.random(in: 48...57, using: &random) }
        default: bytes.insert(contentsOf: bytes.prefix(position).suffix(12), at: position)
        }
    }
}
