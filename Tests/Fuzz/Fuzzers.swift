import Foundation

@testable import Phones

/// The parsers of foreign input that `Tests/Fuzz/run` knows, by name: each gives what is wrong after it has read any bytes. The tests of the
/// module check the same with damaged inputs by seeds, and with those that once failed.
private let parsers: [String: @Sendable ([UInt8]) -> [String]] = [
    "characteristic": { CharacteristicInput.issues(in: $0) },
    "command": { CommandInput.issues(in: $0) },
    // Each format is read of each document.
    "document": {
        DocumentInput.issues(in: $0, of: HealthAutoExport.self)
            + DocumentInput.issues(in: $0, of: HealthConnectWebhook.self)
            + DocumentInput.issues(in: $0, of: Nightscout.self)
            + DocumentInput.issues(in: $0, of: ScriptDocument.self)
    },
    "export": { ExportInput.result(of: $0).issues },
    "fit": { FITInput.issues(in: $0) },
    "health-connect": { HealthConnectInput.result(of: $0).issues },
    "link": { LinkInput.issues(in: $0) },
    "o2ring": { OxiInput.issues(in: $0) },
    "record": { RecordInput.issues(in: $0) },
    "recording": { RecordingInput.issues(in: $0) },
    "ring": { RingInput.issues(in: $0) },
]

/// The one that this process fuzzes.
private let parser: @Sendable ([UInt8]) -> [String] = {
    let name = ProcessInfo.processInfo.environment["FUZZ_PARSER"] ?? ""
    guard let parser = parsers[name] else {
        fatalError("FUZZ_PARSER is '\(name)', and not one of \(parsers.keys.sorted().joined(separator: ", "))")
    }
    return parser
}()

/// libFuzzer's entry point, called with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func takeInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let issues = parser(Array(UnsafeBufferPointer(start: start, count: count)))
    // An optimised build says nothing of a failed condition.
    for issue in issues { print(issue) }
    precondition(issues.isEmpty)
    return 0
}
