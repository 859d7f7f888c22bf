import JSON
import Testing

@Suite struct JSONValueTests {
    @Test func `keeps the members in their order, and of a key that occurs twice the last`() throws {
        let value = try JSONValue(parsing: Array(#"{"b":1,"a":2,"b":3}"#.utf8))
        #expect(value == ["a": 2, "b": 3])
        #expect(value["b"]?.asInt == 3)
        #expect(value.description == #"{"a":2,"b":3}"#)
    }

    @Test func `keeps whole numbers up to 2 to the power of 53`() throws {
        let value = try JSONValue(parsing: Array("[9007199254740992,-9007199254740991,1763683200123]".utf8))
        #expect(value[0]?.asInt64 == 9_007_199_254_740_992)
        #expect(value[1]?.asInt == -9_007_199_254_740_991)
        #expect(value.description == "[9007199254740992,-9007199254740991,1763683200123]")
    }

    @Test func `gives nothing where the kind is another one`() {
        let value: JSONValue = ["text": "a", "number": 1.5, "huge": 1e300, "flag": true, "none": nil, "list": [1]]
        #expect(value["text"]?.asInt == nil)
        #expect(value["number"]?.asInt == nil)
        #expect(value["number"]?.asDouble == 1.5)
        #expect(value["huge"]?.asInt == nil)
        #expect(value["flag"]?.asString == nil)
        #expect(value["flag"]?.asBool == true)
        #expect(value["none"]?.isNull == true)
        #expect(value["missing"] == nil)
        #expect(value["list"]?[1] == nil)
        #expect(value["list"]?[-1] == nil)
        #expect(value[0] == nil)
        #expect(JSONValue.string("a")["a"] == nil)
    }
}
