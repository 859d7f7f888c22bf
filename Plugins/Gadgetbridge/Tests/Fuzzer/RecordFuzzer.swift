/// libFuzzer's entry point, called with each input (`deploy/fuzz`).
@_cdecl("LLVMFuzzerTestOneInput")
public func takeRecordInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let mistakes = RecordInput.mistakes(in: Array(UnsafeBufferPointer(start: start, count: count)))
    // An optimised build says nothing of a failed condition.
    for mistake in mistakes { print(mistake) }
    precondition(mistakes.isEmpty)
    return 0
}
