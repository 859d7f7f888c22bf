import TestSupport
import Testing
import Vitals

@testable import Phones

/// Damaged documents must neither trap nor yield impossible samples.
@Suite struct DocumentFuzzTests {
    private static let seeds: [UInt64] = Array(1...8)
    private static let inputs = FuzzInputs()

    @Test func `finds the inputs`() { #expect(Self.inputs.names.count >= 3) }

    @Test(arguments: inputs.names) func `takes what fuzzing begins with, and what once failed`(name: String) throws {
        let bytes = try Self.inputs.bytes(name)
        #expect(DocumentInput.issues(in: bytes, of: HealthAutoExport.self) == [])
        #expect(DocumentInput.issues(in: bytes, of: HealthConnectWebhook.self) == [])
        #expect(DocumentInput.issues(in: bytes, of: Nightscout.self) == [])
        #expect(DocumentInput.issues(in: bytes, of: ScriptDocument.self) == [])
    }

    @Test(arguments: seeds) func `never traps on damaged documents`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let names = ["", "-warnings", "-kinds", "-nights"]
        let exported = try names.map { try Phone.document("health-auto-export\($0).json") }
        let posted = try Phone.document("health-connect-webhook.json")
        let written = try Phone.document("script.json")
        let uploaded = try Self.inputs.bytes("uploaded.json")
        var (readable, unreadable) = (0, 0)
        for round in 0..<300 {
            var (one, other, third, fourth) = (exported[round % exported.count], posted, written, uploaded)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                Damage.json(&one, keepsGrammar: true, &random)
                Damage.json(&other, keepsGrammar: true, &random)
                Damage.json(&third, keepsGrammar: true, &random)
                Damage.json(&fourth, keepsGrammar: true, &random)
            }
            #expect(DocumentInput.issues(in: one, of: HealthAutoExport.self) == [])
            #expect(DocumentInput.issues(in: other, of: HealthConnectWebhook.self) == [])
            #expect(DocumentInput.issues(in: third, of: ScriptDocument.self) == [])
            #expect(DocumentInput.issues(in: fourth, of: Nightscout.self) == [])
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
}
