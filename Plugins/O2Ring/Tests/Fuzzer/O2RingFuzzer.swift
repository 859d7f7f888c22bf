/// libFuzzer's entry point, called with each input (`deploy/fuzz`).
@_cdecl("LLVMFuzzerTestOneInput")
public func takeOxiInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let mistakes = OxiInput.mistakes(in: Array(UnsafeBufferPointer(start: start, count: count)))
    precondition(mistakes.isEmpty, mistakes.joined(separator: "\n"))
    return 0
}
