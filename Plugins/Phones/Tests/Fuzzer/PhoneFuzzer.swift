@testable import Phones

/// libFuzzer's entry point, called with each input (`deploy/fuzz`). Both apps read each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func takeDocument(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    let issues =
        DocumentInput.issues(in: bytes, of: HealthAutoExport.self)
        + DocumentInput.issues(in: bytes, of: HealthConnectWebhook.self)
    precondition(issues.isEmpty, issues.joined(separator: "\n"))
    return 0
}
