import Gateway
import GatewayKit
import Testing

/// The address and the token of Home Assistant in the configuration.
@Suite struct HomeAssistantAddressTests {
    private func text(_ members: String) -> String {
        "mqtt: {url: mqtt://127.0.0.1}\ndevices: []\nhome_assistant: {\(members)}\n"
    }
    private static let secret = ["TOKEN": "abc.def", "BROKEN": "abc def"]

    @Test func `takes an address with a token, and shows the token nowhere`() throws {
        let loaded = try load(
            text("url: \"http://127.0.0.1:8123\", token: {env: TOKEN}"), environment: Self.secret)
        #expect(loaded.homeAssistant.address.map { "\($0)" } == "127.0.0.1:8123")
        #expect(loaded.homeAssistant.token?.value == "abc.def")
        #expect(!"\(loaded.homeAssistant)".contains("abc.def"))
        #expect(!loaded.warnings.contains { $0.path.hasPrefix("home_assistant") })
    }

    @Test func `warns of a token that goes over a network in the clear`() throws {
        let loaded = try load(text("url: \"http://ha.local:8123\", token: {env: TOKEN}"), environment: Self.secret)
        #expect(
            loaded.warnings.contains {
                $0.message == "The token goes to ha.local:8123 in the clear; https:// protects it."
            })
    }

    @Test(arguments: [
        ("url: \"http://127.0.0.1:8123\"", "url and token belong together."),
        ("token: {env: TOKEN}", "url and token belong together."),
        ("url: ha.local, token: {env: TOKEN}", "An address is needed here"),
        ("url: \"http://127.0.0.1\", token: {env: BROKEN}", "A token of Home Assistant is one line without spaces."),
        ("url: \"http://127.0.0.1\", token: abc", "A secret must not be written here."),
        ("url: \"http://127.0.0.1\", token: {env: TOKEN}, discovery: \"off\"", "discovery must not be off"),
    ])
    func `says what is wrong`(members: String, message: String) {
        #expect(issues(text(members), environment: Self.secret).contains { $0.contains(message) })
    }

    @Test(arguments: [("2d", true), ("3d", true), ("4d", false), ("forever", false)])
    func `refuses an import from samples that are deleted too early`(retention: String, isRefused: Bool) {
        let kept = "store: {retention: {samples: \(retention)}}\n"
        let found = issues(
            kept + text("url: \"http://127.0.0.1:8123\", token: {env: TOKEN}"), environment: Self.secret)
        #expect(found.contains { $0.contains("store.retention.samples must be 4d or more") } == isRefused)
    }
}
