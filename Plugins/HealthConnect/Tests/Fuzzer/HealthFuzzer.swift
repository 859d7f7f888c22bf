/// libFuzzer's entry point, called with each input (`deploy/fuzz`).
@_cdecl("LLVMFuzzerTestOneInput")
public func takeHealthInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let mistakes = HealthInput.result(of: Array(UnsafeBufferPointer(start: start, count: count))).mistakes
    // An optimised build says nothing of a failed condition.
    for mistake in mistakes { print(mistake) }
    precondition(mistakes.isEmpty)
    return 0
}
