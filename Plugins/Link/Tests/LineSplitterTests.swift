import GatewayKit
import Testing

@testable import Link

@Suite struct LineSplitterTests {
    /// The lines of a text that is fed in pieces of `size` bytes.
    private func lines(_ text: String, size: Int) throws -> [String] {
        var splitter = LineSplitter()
        var lines: [String] = []
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: size) {
            splitter.append(Array(bytes[start..<min(start + size, bytes.count)]))
            while let line = try splitter.next() { lines.append(String(decoding: splitter.bytes[line], as: UTF8.self)) }
        }
        return lines
    }

    @Test(arguments: [1, 2, 3, 5, 7, 1_000])
    func `cuts the same lines from whatever pieces`(size: Int) throws {
        let text = "one\ntwo\r\n\n\r\n\rthree\r\r\n\n\nfour\nrest"
        #expect(try lines(text, size: size) == ["one", "two", "\rthree\r", "four"])
    }

    @Test(arguments: [1_000, 65_536, 300_000])
    func `takes a line of the greatest length, and refuses a longer one`(size: Int) throws {
        let limit = LineSplitter.maximumLength
        let longest = String(repeating: "x", count: limit)
        #expect(try lines(longest + "\n" + "y\n", size: size) == [longest, "y"])
        #expect(throws: DeviceError.self) { try lines(longest + "x\n", size: size) }
        #expect(throws: DeviceError.self) { try lines(longest + "x", size: size) }
    }

    @Test func `keeps a part of a line, and no memory of whole ones, when it is released`() throws {
        var splitter = LineSplitter()
        splitter.append(Array("one\ntw".utf8))
        while try splitter.next() != nil {}
        splitter.releaseLines()
        splitter.append(Array("o\n".utf8))
        let line = try #require(try splitter.next())
        #expect(String(decoding: splitter.bytes[line], as: UTF8.self) == "two")
        let rest = try splitter.next()
        #expect(rest == nil)
        splitter.releaseLines()
        #expect(splitter.bytes.capacity == 0)
        splitter.append(Array("three\n".utf8))
        let last = try #require(try splitter.next())
        #expect(String(decoding: splitter.bytes[last], as: UTF8.self) == "three")
    }

    @Test func `does not keep the lines that were taken`() throws {
        var splitter = LineSplitter()
        for _ in 0..<1_000 {
            splitter.append(Array("0123456789\nabc".utf8))
            while try splitter.next() != nil {}
        }
        #expect(splitter.bytes.count < 50)
    }
}
