import Gateway
import GatewayKit
import JSON
import Testing

@Suite struct YAMLTextTests {
    @Test(arguments: [
        "vitals", "mdi:sleep", "sensor.a_1", "Anna's: band", "on", "No", "null", "12", "1e3", "0x1F", "2026-11-23",
        "- a", "a: b",
        "a #b", "*a", "&a", "!a", "%a", "@a", "`a", "{a}", "[a]", "\"", "\\", "'", " a", "a ", "", "~", "é 😀", "a:",
        "?", "<<",
        "{% set a = 'b' %}\n| x |\n\n  indented\nlast", "a\nb\n", "\n", "\ta\n b", "a \nb", "\u{7}",
    ])
    func `a text is the same after it was read again`(text: String) throws {
        let written = try YAMLText.of(["key": .array([.string(text), 3, true])])
        guard case .map(let members) = try YAMLDocument(written).root.content, let value = members.first?.value.content,
            case .list(let elements) = value
        else {
            Issue.record("\(written) is no map with a list")
            return
        }
        let read = elements.map { element in if case .scalar(let text, _) = element.content { text } else { "-" } }
        #expect(read == [text, "3", "true"], "\(written)")
    }
}
