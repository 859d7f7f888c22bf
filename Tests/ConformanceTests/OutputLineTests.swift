import Testing

@testable import TestSupport

/// The output of a program, cut into lines.
@Suite struct OutputLineTests {
    /// The lines of an output that comes in these pieces.
    private func lines(_ pieces: [String]) throws -> [String] {
        var lines = OutputLines(limit: 8)
        var found: [String] = []
        for piece in pieces { found += try Array(piece.utf8).withUnsafeBytes { try lines.add($0) } }
        return try found + [lines.end()].compactMap(\.self)
    }

    @Test(arguments: [
        (["one\ntwo\n"], ["one", "two"]),
        (["on", "e", "\nt", "wo\n"], ["one", "two"]),
        (["one\n\ntwo"], ["one", "", "two"]),
        (["one\r\n", "two\r", "\n"], ["one", "two"]),
        (["grü", "n\n"], ["grün"]),
        ([], []),
    ])
    func `a line is whole wherever the output was cut`(_ pieces: [String], _ expected: [String]) throws {
        #expect(try lines(pieces) == expected)
    }

    @Test func `a letter that is cut is whole in its line`() throws {
        let letter = Array("ü\n".utf8)
        var lines = OutputLines(limit: 8)
        #expect(try letter[..<1].withUnsafeBytes { try lines.add($0) }.isEmpty)
        #expect(try letter[1...].withUnsafeBytes { try lines.add($0) } == ["ü"])
    }

    @Test(arguments: [["123456789\n"], ["12345", "6789"], ["ok\n12345", "6789\n"]])
    func `a line beyond the limit is an error, also before its end`(_ pieces: [String]) {
        #expect(throws: ProgramError.self) { try lines(pieces) }
    }

    @Test func `a line of the limit is taken`() throws {
        #expect(try lines(["12345678\n", "12345678"]) == ["12345678", "12345678"])
    }
}
