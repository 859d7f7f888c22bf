/// libFuzzer's entry point, called with each input (`deploy/fuzz`).
@_cdecl("LLVMFuzzerTestOneInput")
public func takeRecordInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let issues = RecordInput.issues(in: Array(UnsafeBufferPointer(start: start, count: count)))
    // An optimised build says nothing of a failed condition.
    for issue in issues { print(issue) }
    precondition(issues.isEmpty)
    return 0
}
