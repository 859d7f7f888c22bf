/// Cuts the output of a program into lines.
struct OutputLines {
    private let limit: Int
    private var rest: [UInt8] = []

    /// - Parameter limit: the longest line, in bytes.
    init(limit: Int) { self.limit = limit }

    /// Takes more of the output. Returns the lines that are whole now, without their ends.
    /// - Throws: `ProgramError` where a line is longer than the limit.
    mutating func add(_ bytes: UnsafeRawBufferPointer) throws(ProgramError) -> [String] {
        var lines: [String] = []
        var bytes = bytes[...]
        while let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
            rest += bytes[..<end]
            bytes = bytes[(end + 1)...]
            lines.append(try dequeue())
        }
        rest += bytes
        guard rest.count <= limit else { throw tooLong }
        return lines
    }

    /// The last line, if the output ends without the end of a line.
    mutating func end() throws(ProgramError) -> String? { rest.isEmpty ? nil : try dequeue() }

    private mutating func dequeue() throws(ProgramError) -> String {
        guard rest.count <= limit else { throw tooLong }
        defer { rest.removeAll(keepingCapacity: true) }
        return String(decoding: rest.last == UInt8(ascii: "\r") ? rest.dropLast() : rest[...], as: UTF8.self)
    }

    private var tooLong: ProgramError { ProgramError(description: "A line of output has more than \(limit) bytes.") }
}
