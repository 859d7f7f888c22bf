import GatewayKit
import Testing
import Vitals

@Suite struct ConfigurationReaderTests {
    /// A map on lines that count up from 2.
    private func map(_ pairs: KeyValuePairs<String, ConfigurationValue.Content>) -> ConfigurationValue {
        var line = 1
        return ConfigurationValue(
            .map(
                pairs.map { key, content in
                    line += 1
                    return (ConfigurationKey(key, line: line), ConfigurationValue(content, line: line))
                }), line: 1)
    }

    private func word(_ text: String) -> ConfigurationValue.Content { .scalar(text, isQuoted: false) }

    @Test func `describes what is read, and needs no configuration`() {
        var reader = ConfigurationReader(describing: "options")
        #expect(reader.integer("a", in: 1...9, default: 3, about: "A number.") == 3)
        _ = reader.section("b") { $0.sections("c", limit: 2) { $0.string("d") } }
        let has = reader.has("e")
        #expect(has)
        #expect(reader.optionalBytes("f", in: 0...1024) == nil)
        #expect(
            reader.descriptions.map { "\($0.path): \($0.kind). \($0.default). \($0.about)" } == [
                "options.a: whole number, 1 to 9. 3. A number.", "options.b: map. none. ",
                "options.b.c: list of at most 2 maps. none. ", "options.b.c[].d: text. required. ",
                "options.e: value. none. ", "options.f: size, 0B to 1KiB. none. ",
            ])
        var other = ConfigurationReader(ConfigurationValue(.null))
        _ = other.flag("a", default: true)
        #expect(other.descriptions.isEmpty)
    }

    @Test func `reads each type, and the defaults of what does not stand there`() {
        var reader = ConfigurationReader(
            map(["a": word("x"), "b": word("7"), "c": word("0.5"), "d": word("off"), "e": word("90s"), "f": .null]))
        #expect(reader.string("a") == "x")
        #expect(reader.integer("b", in: 1...9) == 7)
        #expect(reader.number("c", in: 0...1, default: 0) == 0.5)
        #expect(reader.flag("d", default: true) == false)
        #expect(reader.duration("e", in: .zero ... .hours(1), default: .zero) == .seconds(90))
        #expect(reader.string("f", default: "y") == "y")
        #expect(reader.integer("g", in: 1...9, default: 3) == 3)
        #expect(reader.finish().isEmpty)
    }

    @Test func `reports unknown keys with their lines, and what was probably meant`() {
        var reader = ConfigurationReader(map(["intreval": word("1"), "other": word("2")]), path: "sync")
        _ = reader.integer("interval", in: 0...9, default: 0)
        let issues = reader.finish()
        #expect(
            issues.map(\.description) == [
                "line 2: sync.intreval: There is no such key. Did you mean interval?",
                "line 3: sync.other: There is no such key. Known here: interval.",
            ])
    }

    @Test func `goes on after an error`() {
        var reader = ConfigurationReader(map(["a": word("12"), "b": word("soon"), "c": .list([])]))
        _ = reader.integer("a", in: 1...9)
        _ = reader.duration("b", in: .zero ... .hours(1), default: .zero)
        _ = reader.string("c")
        _ = reader.integer("d", in: 1...9)
        #expect(reader.finish().map(\.line) == [2, 3, 4, 1])
    }

    @Test func `reads maps in a list with their paths`() {
        let entry = map(["id": word("x")])
        let list = ConfigurationValue.Content.list([entry, ConfigurationValue(word("no"), line: 9)])
        var reader = ConfigurationReader(map(["devices": list]))
        let ids = reader.sections("devices", limit: 2) { $0.optionalString("id") }
        #expect(ids == ["x", nil])
        #expect(reader.finish().map(\.description) == ["line 9: devices[1]: Keys and values are expected here."])
    }

    @Test(arguments: [
        ("debug", "Keys and values are expected here, such as {level: debug}."),
        ("mqtt://h:1883", "Keys and values are expected here, such as {level: mqtt://h:1883}."),
        ("true", "Keys and values are expected here."), ("a, b", "Keys and values are expected here."),
        (String(repeating: "a", count: 65), "Keys and values are expected here."),
    ])
    func `a word in place of a map is shown behind the first key that takes one`(word text: String, message: String) {
        var reader = ConfigurationReader(map(["log": word(text)]))
        reader.section("log") { log in
            log.section("files") { _ = $0.optionalString("path") }
            _ = log.optionalString("level")
        }
        #expect(reader.finish().map(\.message) == [message])
    }

    @Test func `takes a single map as a list of one, and refuses more than the limit`() {
        let entry = map(["id": word("x")])
        var reader = ConfigurationReader(map(["one": entry.content, "many": .list([entry, entry, entry])]))
        #expect(reader.sections("one", limit: 2) { $0.string("id") } == ["x"])
        #expect(reader.sections("many", limit: 2) { $0.string("id") } == [])
        #expect(reader.finish().map(\.path) == ["many"])
    }

    @Test(arguments: [("forever", nil), ("2d", Duration.days(2))])
    func `reads a duration or its word`(text: String, duration: Duration?) {
        var reader = ConfigurationReader(map(["keep": word(text)]))
        #expect(reader.duration("keep", in: .hours(1) ... .days(9), orWord: "forever", default: .days(1)) == duration)
        #expect(reader.finish().isEmpty)
    }

    @Test(
        arguments: [
            ("1GiB", 1 << 30), ("16 MiB", 16 << 20), ("2kB", 2000), ("7B", 7), ("1TB", 1_000_000_000_000), ("0KiB", 0),
        ] as [(String, Int64)])
    func `reads sizes`(text: String, bytes: Int64) {
        #expect(ByteSize(configuration: text)?.bytes == bytes)
    }

    @Test(arguments: ["", "1", "GiB", "1.5GiB", "-1GiB", "1gib", "9999999TiB", "1GiBs", "１GiB"])
    func `takes nothing else for a size`(text: String) {
        #expect(ByteSize(configuration: text) == nil)
    }

    @Test(arguments: [(1 << 30, "1GiB"), (1536 << 20, "1536MiB"), (1000, "1000B"), (0, "0B")] as [(Int64, String)])
    func `writes sizes as it reads them`(bytes: Int64, text: String) {
        #expect(ByteSize(bytes: bytes).description == text)
    }

    @Test func `compares values without their lines`() {
        let a = map(["a": word("1"), "b": .list([ConfigurationValue(word("2"), line: 5)])])
        let b = ConfigurationValue(a.content, line: 77)
        #expect(a.withoutLines == b.withoutLines)
        #expect(a.withoutLines != map(["a": word("2")]).withoutLines)
        #expect(a["b"]?.content == .list([ConfigurationValue(word("2"), line: 5)]))
        #expect(a["c"] == nil)
    }
}
