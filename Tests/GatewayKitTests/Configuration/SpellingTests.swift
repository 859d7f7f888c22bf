import GatewayKit
import Testing

@Suite struct SpellingTests {
    private let words = ["colmi-ring", "gadgetbridge", "link", "o2ring", "options", "transport", "driver"]

    @Test(arguments: [
        ("opions", "options"), ("option", "options"), ("Driver", "driver"), ("trasnport", "transport"),
        ("colmi", "colmi-ring"), ("gadget", "gadgetbridge"), ("o2-ring", "o2ring"), ("lnk", "link"),
        ("links", "link"),
    ])
    func `knows what was probably meant`(text: String, word: String) {
        #expect(Spelling.near(to: text, in: words) == [word])
        #expect(Spelling.hint(for: text, in: words) == "Did you mean \(word)?")
    }

    @Test(arguments: ["", "x", "fitbit", "li", "colour", "watch"])
    func `proposes nothing for what is something else`(text: String) {
        #expect(Spelling.near(to: text, in: words).isEmpty)
        #expect(Spelling.hint(for: text, in: words) == nil)
    }

    @Test func `names all that are equally near`() {
        let hint = Spelling.hint(for: "health", in: ["health-b", "health-a", "x"])
        #expect(hint == "Did you mean health-a or health-b?")
        #expect(Spelling.near(to: "bat", in: ["cat", "rat", "boat"]) == ["boat", "cat", "rat"])
    }

    @Test func `proposes a few words at most, and none for a text that is longer than any`() {
        #expect(Spelling.near(to: "aa", in: ["ab", "ac", "ad", "ae"]) == ["ab", "ac", "ad"])
        let long = String(repeating: "a", count: Spelling.maximumLength + 1)
        #expect(Spelling.near(to: long, in: [String(long.dropLast(2)) + "bb"]).isEmpty)
        #expect(!Spelling.near(to: String(long.dropLast()), in: [String(long.dropLast(2)) + "b"]).isEmpty)
    }
}
