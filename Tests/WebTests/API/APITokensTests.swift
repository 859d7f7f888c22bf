import Foundation
import GatewayKit
import Testing

@testable import Web

/// `tokens` of `web:`.
@Suite struct APITokensTests {
    private func read(_ entries: [[(String, ConfigurationValue)]]) -> (tokens: APITokens, issues: [String]) {
        let list = entries.map { ConfigurationValue(.map($0.map { (ConfigurationKey($0.0), $0.1) })) }
        var place = ConfigurationPlace()
        place.environment = ["ONE": String(repeating: "a", count: 32), "TWO": String(repeating: "b", count: 32)]
        var reader = ConfigurationReader(
            ConfigurationValue(.map([(ConfigurationKey("tokens"), ConfigurationValue(.list(list)))])), place: place)
        let tokens = APITokens(&reader)
        return (tokens, reader.finish().map(\.message))
    }

    private static func text(_ text: String) -> ConfigurationValue { ConfigurationValue(.scalar(text, isQuoted: true)) }
    private static func words(_ words: [String]) -> ConfigurationValue {
        ConfigurationValue(.list(words.map { text($0) }))
    }
    private static func secret(_ name: String) -> ConfigurationValue {
        ConfigurationValue(.map([(ConfigurationKey("env"), text(name))]))
    }

    @Test func `a token has a name, scopes and persons, and only reads by default`() throws {
        let (tokens, issues) = read([
            [("name", Self.text("grafana")), ("token", Self.secret("ONE"))],
            [
                ("name", Self.text("panel")), ("token", Self.secret("TWO")),
                ("scopes", Self.words(["read", "command"])), ("people", Self.words(["anna"])),
            ],
        ])
        #expect(issues == [])
        #expect(tokens.tokens.map(\.scopes) == [[.read], [.read, .command]])
        #expect(tokens.tokens.map(\.people) == [nil, ["anna"]])
        #expect(tokens.token(String(repeating: "b", count: 32))?.name == "panel")
        #expect(tokens.token(String(repeating: "b", count: 31)) == nil && tokens.token("") == nil)
    }

    @Test func `a token without secret, with a strange scope, or that is there twice is refused`() {
        #expect(read([[("name", Self.text("a"))]]).issues.contains { $0.hasPrefix("token is missing") })
        let strange = read([
            [("name", Self.text("a")), ("token", Self.secret("ONE")), ("scopes", Self.words(["write"]))]
        ])
        #expect(strange.issues == ["The scopes are read, command."])
        let twice = [("a", "ONE"), ("b", "ONE")].map { name, secret in
            [("name", Self.text(name)), ("token", Self.secret(secret))]
        }
        #expect(read(twice).issues == ["Two entries have the same token: make one for each."])
        let named = [("a", "ONE"), ("a", "TWO")].map { name, secret in
            [("name", Self.text(name)), ("token", Self.secret(secret))]
        }
        #expect(read(named).issues == ["Another token has this name."])
    }

    @Test func `thirty-two tokens are taken, with a hundred persons each, and no more`() {
        func entry(_ number: Int, people: Int = 1) -> [(String, ConfigurationValue)] {
            [
                ("name", Self.text("n\(number)")), ("token", Self.secret("ONE")),
                ("people", Self.words((0..<people).map { "p\($0)" })),
            ]
        }
        let many = read((0...APITokens.maximum).map { entry($0) })
        #expect(many.issues == ["33 entries are too many; at most 32 are taken."])
        #expect(read([entry(0, people: APITokens.maximumPeople)]).issues == [])
        let crowd = read([entry(0, people: APITokens.maximumPeople + 1)])
        #expect(crowd.issues == ["At most 100 texts are taken here."])
        #expect(APITokens([]).token(String(repeating: "c", count: APITokens.maximumLength + 1)) == nil)
    }
}
