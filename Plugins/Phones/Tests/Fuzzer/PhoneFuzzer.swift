@testable import Phones

/// libFuzzer's entry point, called with each input (`deploy/fuzz`). Both apps read each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func takeDocument(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    let mistakes =
        DocumentInput.mistakes(in: bytes, of: HealthAutoExport.self)
        + DocumentInput.mistakes(in: bytes, of: HealthConnectWebhook.self)
    precondition(mistakes.isEmpty, mistakes.joined(separator: "\n"))
    return 0
}
