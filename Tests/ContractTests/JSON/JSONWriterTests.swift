import JSON
import Testing

@Suite struct JSONWriterTests {
    private func text(_ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        body(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test func `puts the commas in their places`() {
        let text = text { writer in
            writer.beginObject()
            writer.member("a", 1)
            writer.key("b")
            writer.beginArray()
            writer.bool(true)
            writer.null()
            writer.beginArray()
            writer.endArray()
            writer.beginObject()
            writer.endObject()
            writer.raw(bytes: Array("[1,2]".utf8))
            writer.endArray()
            writer.key(escaping: "c\"d")
            writer.quoted { bytes in bytes += "x".utf8 }
            writer.key("e")
            writer.append { bytes in bytes += "1.50".utf8 }
            writer.member("f", object: { $0.member("g", "h") })
            writer.member("i", array: [1, 2]) { $0.int($1) }
            writer.endObject()
        }
        #expect(
            text == #"{"a":1,"b":[true,null,[],{},[1,2]],"c\"d":"x","e":1.50,"f":{"g":"h"},"i":[1,2]}"#)
    }

    @Test func `writes what is not there as null`() {
        let text = text { writer in
            writer.beginObject()
            writer.member("a", String?.none)
            writer.member("b", Int?.none)
            writer.member("c", Int64?.none)
            writer.member("d", Double?.none)
            writer.member("e", Bool?.none)
            writer.member("f", JSONValue?.none)
            writer.member("g", Int64.min)
            writer.member("h", false)
            writer.member("i", JSONValue.array([1]))
            writer.endObject()
        }
        #expect(
            text
                == #"{"a":null,"b":null,"c":null,"d":null,"e":null,"f":null,"g":-9223372036854775808,"h":false,"i":[1]}"#
        )
    }

    @Test(arguments: [
        (0.0, "0"), (-0.0, "-0"), (58, "58"), (-3, "-3"), (36.6, "36.6"), (0.5, "0.5"), (0.05, "0.05"),
        (0.001, "0.001"),
        (-1.25, "-1.25"), (12.034, "12.034"), (0.1 + 0.2, "0.30000000000000004"), (1.0 / 3, "0.3333333333333333"),
        (9_007_199_254_740_992, "9007199254740992"), (1e15, "1000000000000000"), (1e16, "1e+16"), (1e300, "1e+300"),
        (.leastNonzeroMagnitude, "5e-324"), (1e-5, "1e-05"), (999_999_999_999_999, "999999999999999"),
        (.infinity, "null"),
        (-.infinity, "null"), (.nan, "null"),
    ])
    func `writes numbers in the fewest digits`(value: Double, expected: String) {
        #expect(text { $0.double(value) } == expected)
    }

    @Test func `escapes what must be escaped, and nothing else`() {
        #expect(
            text { $0.string("a\"\\/\u{8}\t\n\u{c}\r\u{1}\u{1f}\u{7f}é\u{2028}😀") }
                == #""a\"\\/\b\t\n\f\r\u0001\u001f"# + "\u{7f}é\u{2028}😀\"")
    }

    @Test func `begins a new document after a line feed`() {
        var writer = JSONWriter(reservingCapacity: 64)
        writer.int(1)
        writer.newline()
        writer.int(2)
        writer.newline()
        #expect(writer.bytes == Array("1\n2\n".utf8))
        writer.removeAll()
        writer.int(3)
        #expect(writer.bytes == Array("3".utf8))
    }
}
