import JSON
import Testing

@Suite struct JSONGrammarTests {
    @Test(arguments: [
        "", " ", "{", "}", "[", "]", "[1", "[1,", "[1,]", "[,1]", "[,]", "[1 2]", "[1,,2]", "{\"a\"}", "{\"a\":}",
        "{\"a\":1,}", "{,}", "{\"a\" 1}", "{\"a\":1 \"b\":2}", "{a:1}", "{'a':1}", "{1:2}", "{\"a\":1]", "[1}", "\"",
        "\"abc", "\"\\", "\"\\\"", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\ud800\"", "\"\\ud800\\u0041\"",
        "\"\\ud800\\", "\"\\udc00\"", "\"\t\"", "\"\n\"", "\"\u{0}\"", "01", "-", "-a", "+1", "1.", ".5", "1.e5", "1e",
        "1e+", "-01", "0x10", "1_000", "NaN", "Infinity", "-Infinity", "nul", "nulL", "tru", "truE", "fals", "falsy",
        "True", "undefined", "1 2", "{} {}", "[] x", "// comment\n1", "/**/1", "\u{feff}1", "[1]\u{0}",
    ])
    func `refuses what is no JSON`(text: String) {
        #expect(throws: JSONError.self) { try JSONValue(parsing: Array(text.utf8)) }
        var reader = JSONReader(Array(text.utf8))
        #expect(throws: JSONError.self) {
            try reader.skip()
            try reader.expectEnd()
        }
    }

    @Test(
        arguments: [
            [0x80], [0xC3], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xE2, 0x82],
            [0xF0, 0x8F, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF], [0xFE],
            [0xF0, 0x9F, 0x98],
            [0xC3, 0x28],
        ] as [[UInt8]])
    func `refuses strings that are not UTF-8`(bytes: [UInt8]) {
        let quote = UInt8(ascii: "\"")
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: [quote] + bytes + [quote]) }
        #expect(error == JSONError(.invalidUTF8, at: 1))
    }

    @Test(arguments: [
        "null", "true", "false", "0", "-1", "1e5", "\"\"", "[]", "{}", "[[],[{}]]", " [ 1 , 2 ] ",
        "\t{\r\n\"a\" : 1 }\n",
        "[\"\\u2028\",\"\u{10FFFF}\"]",
    ])
    func `takes what is JSON`(text: String) throws {
        _ = try JSONValue(parsing: Array(text.utf8))
        var reader = JSONReader(Array(text.utf8))
        try reader.skip()
        try reader.expectEnd()
    }

    @Test func `reads the examples of RFC 8259`() throws {
        let image = """
            {
              "Image": {
                  "Width":  800, "Height": 600, "Title":  "View from 15th Floor",
                  "Thumbnail": {"Url": "http://www.example.com/image/481989943", "Height": 125, "Width":  100},
                  "Animated" : false, "IDs": [116, 943, 234, 38793]
                }
            }
            """
        let value = try JSONValue(parsing: Array(image.utf8))
        #expect(value["Image"]?["Thumbnail"]?["Height"]?.asInt == 125)
        #expect(value["Image"]?["IDs"]?[3]?.asInt == 38793)
        #expect(value["Image"]?["Animated"]?.asBool == false)
        let places = #"[{"Latitude":37.7668,"City":"SAN FRANCISCO"},{"Latitude":37.371991,"Longitude":-122.026020}]"#
        let list = try JSONValue(parsing: Array(places.utf8))
        #expect(list[0]?["Latitude"]?.asDouble == 37.7668)
        #expect(list[1]?["Longitude"]?.asDouble == -122.026020)
    }

    @Test func `reports where the error is`() {
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: Array(#"{"a":[1,x]}"#.utf8)) }
        #expect(error == JSONError(.unexpectedByte, at: 8))
    }

    @Test func `distinguishes a good value of another type from bad grammar`() {
        var good = JSONReader(Array("[]".utf8))
        #expect(throws: JSONError(.wrongType, at: 0)) { try good.string() }
        var bad = JSONReader(Array("x".utf8))
        #expect(throws: JSONError(.unexpectedByte, at: 0)) { try bad.string() }
    }

    @Test func `reads a string of many megabytes`() throws {
        let text = String(repeating: "0123456789", count: 400_000)
        #expect(try JSONValue(parsing: Array("\"\(text)\"".utf8)).asString == text)
    }

    @Test func `reads an object of very many members in reasonable time`() throws {
        let members = (0..<50_000).map { "\"k\($0 % 40_000)\":\($0)" }.joined(separator: ",")
        let value = try JSONValue(parsing: Array("{\(members)}".utf8))
        #expect(value.asObject?.count == 40_000)
        #expect(value["k0"]?.asInt == 40_000)
    }
}
