/// libFuzzer's entry point, called with each input (`deploy/fuzz`).
@_cdecl("LLVMFuzzerTestOneInput")
public func takeRecordingInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let mistakes = RecordingInput.mistakes(in: Array(UnsafeBufferPointer(start: start, count: count)))
    precondition(mistakes.isEmpty, mistakes.joined(separator: "\n"))
    return 0
}
