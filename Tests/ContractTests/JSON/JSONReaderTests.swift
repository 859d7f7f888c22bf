import JSON
import Testing

@Suite struct JSONReaderTests {
    private enum Key: String, CaseIterable { case metric, start, value, user_initiated }
    private let keys = JSONWords(of: Key.self)

    private func reader(_ text: String) -> JSONReader { JSONReader(Array(text.utf8)) }

    @Test func `reads the known members of an object and skips the others`() throws {
        var reader = reader(
            #" {"other":{"metric":[1,{"x":null}]},"metric":"steps","start":1763683200000,"x":"","value":36.6,"user_initiated":true} "#
        )
        var found: [Key] = []
        try reader.beginObject()
        while let key = try reader.nextKey(in: keys) {
            found.append(key)
            switch key {
            case .metric: #expect(try reader.string() == "steps")
            case .start: #expect(try reader.int64() == 1_763_683_200_000)
            case .value: #expect(try reader.double() == 36.6)
            case .user_initiated: #expect(try reader.bool())
            }
        }
        try reader.expectEnd()
        #expect(found == [.metric, .start, .value, .user_initiated])
    }

    @Test func `recognises a key whose letters are escaped`() throws {
        var reader = reader(#"{"\u006detric":1}"#)
        try reader.beginObject()
        #expect(try reader.nextKey(in: keys) == .metric)
    }

    @Test func `gives every value of a key that occurs twice, in order`() throws {
        var reader = reader(#"{"value":1,"value":2}"#)
        var values: [Int] = []
        try reader.beginObject()
        while try reader.nextKey(in: keys) != nil { values.append(try reader.int()) }
        #expect(values == [1, 2])
    }

    @Test(arguments: [
        ("0", 0), ("-0", 0), ("7", 7), ("-12", -12), ("9223372036854775807", Int64.max),
        ("-9223372036854775808", Int64.min), ("58.0", 58), ("5.8e1", 58), ("1e3", 1000),
    ])
    func `reads whole numbers`(text: String, number: Int64) throws {
        var reader = reader(text)
        #expect(try reader.int64() == number)
        try reader.expectEnd()
    }

    @Test(arguments: [
        ("9223372036854775808", JSONError.Reason.numberOutOfRange), ("-9223372036854775809", .numberOutOfRange),
        ("123456789012345678901234567890", .numberOutOfRange), ("1e300", .numberOutOfRange), ("1.5", .wrongType),
        ("\"1\"", .wrongType), ("null", .wrongType),
    ])
    func `refuses as a whole number what is none`(text: String, reason: JSONError.Reason) {
        var reader = reader(text)
        let error = #expect(throws: JSONError.self) { try reader.int64() }
        #expect(error?.reason == reason)
    }

    @Test(arguments: [
        "0.1", "36.6", "1e22", "1e23", "1.7976931348623157e308", "5e-324", "2.2250738585072011e-308", "-0.0", "1e-5",
        "123456789.123456789", "9007199254740993", "0.30000000000000004", "1E+2", "12345678901234567890.5",
        "8.442911973260991817129021e-309",
    ])
    func `reads numbers exactly as the standard library does`(text: String) throws {
        var reader = reader(text)
        let value = try reader.double()
        #expect(value.bitPattern == Double(text)?.bitPattern)
    }

    @Test func `refuses a number that no Double can hold`() {
        var reader = reader("1e999")
        #expect(throws: JSONError(.numberOutOfRange, at: 0)) { try reader.double() }
    }

    @Test(arguments: [
        (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t"), (#""\u00e9\u20AC""#, "é€"), (#""\ud83d\ude00!""#, "😀!"),
        (#""é€😀""#, "é€😀"), (#""\u0000""#, "\u{0}"), (#""""#, ""), ("\"\u{2028}\"", "\u{2028}"),
    ])
    func `reads strings`(text: String, value: String) throws {
        var reader = reader(text)
        #expect(try reader.string() == value)
        try reader.expectEnd()
    }

    @Test func `reads optional values and takes null as nothing`() throws {
        var reader = reader(#"[null,"a",null,2]"#)
        try reader.beginArray()
        func next() throws { #expect(try reader.nextElement()) }
        try next()
        #expect(try reader.optionalString() == nil)
        try next()
        #expect(try reader.optionalString() == "a")
        try next()
        #expect(try reader.optionalInt() == nil)
        try next()
        #expect(try reader.optionalInt() == 2)
        #expect(try !reader.nextElement())
        try reader.expectEnd()
    }

    @Test func `finds a word among those it knows without regard to others of its hash`() throws {
        let names = (0..<200).map { "word\($0)" }
        let words = JSONWords(names.map { (text: $0, word: $0) })
        for name in names {
            var reader = reader("\"\(name)\"")
            #expect(try reader.word(in: words) == name)
        }
        for other in ["", "word", "word200", "Word1", "word01"] {
            var reader = reader("\"\(other)\"")
            #expect(try reader.word(in: words) == nil)
        }
    }

    @Test func `captures a value as it stands, for a reader of its own`() throws {
        let text = Array(#"{"params": {"a":[1, 2]} ,"id":7}"#.utf8)
        var reader = JSONReader(text)
        try reader.beginObject()
        #expect(try reader.nextKey() == "params")
        let range = try reader.raw()
        #expect(String(decoding: text[range], as: UTF8.self) == #"{"a":[1, 2]}"#)
        #expect(try reader.nextKey() == "id")
        var inner = JSONReader(text, range: range)
        try inner.skip()
        try inner.expectEnd()
    }

    @Test func `reads only its range, and nothing beyond the bytes`() {
        var short = JSONReader(Array("[1]".utf8), range: 0..<2)
        #expect(throws: JSONError(.unexpectedEnd, at: 2)) { try short.skip() }
        var long = JSONReader(Array("[1".utf8), range: 0..<50)
        #expect(throws: JSONError(.unexpectedEnd, at: 2)) { try long.skip() }
    }

    @Test func `notices a value that the consumer forgot to read`() throws {
        var reader = reader(#"{"value":1,"value":2}"#)
        try reader.beginObject()
        _ = try reader.nextKey(in: keys)
        #expect(throws: JSONError.self) { try reader.nextKey(in: keys) }
    }

    @Test func `allows a nesting of 32 and refuses one of 33`() throws {
        let limit = JSONReader.maximumDepth
        func nested(_ depth: Int) -> JSONReader {
            reader(String(repeating: "[", count: depth) + String(repeating: "]", count: depth))
        }
        var good = nested(limit)
        try good.skip()
        var deep = nested(limit + 1)
        #expect(throws: JSONError(.tooDeep, at: limit)) { try deep.skip() }
        var endless = reader(String(repeating: "{\"a\":", count: 100_000))
        #expect(throws: JSONError.self) { try endless.skip() }
    }
}
