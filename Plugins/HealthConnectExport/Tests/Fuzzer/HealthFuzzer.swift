/// libFuzzer's entry point, called with each input (`deploy/fuzz`).
@_cdecl("LLVMFuzzerTestOneInput")
public func takeHealthInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let issues = HealthInput.result(of: Array(UnsafeBufferPointer(start: start, count: count))).issues
    // An optimised build says nothing of a failed condition.
    for issue in issues { print(issue) }
    precondition(issues.isEmpty)
    return 0
}
