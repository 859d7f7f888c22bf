/// libFuzzer's entry point, called with each input (`deploy/fuzz`).
@_cdecl("LLVMFuzzerTestOneInput")
public func takeOxiInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let issues = OxiInput.issues(in: Array(UnsafeBufferPointer(start: start, count: count)))
    precondition(issues.isEmpty, issues.joined(separator: "\n"))
    return 0
}
