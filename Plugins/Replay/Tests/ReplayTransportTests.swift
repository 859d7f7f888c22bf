import GatewayKit
import Testing

@testable import Replay

@Suite struct ReplayTransportTests {
    /// A file that is there: only its reading is checked.
    private static let file = "/proc/self/status"

    private func mistakes(_ members: KeyValuePairs<String, String>) -> [String] {
        var reader = ConfigurationReader(
            ConfigurationValue(
                .map(
                    members.map {
                        (ConfigurationKey($0.key), ConfigurationValue(.scalar($0.value, isQuoted: false)))
                    })))
        _ = ReplayTransport(options: &reader)
        return reader.finish().map(\.message)
    }

    @Test(arguments: ["1", "1000", "max"]) func `a speed within its limit is taken`(speed: String) {
        #expect(mistakes(["path": Self.file, "speed": speed]).isEmpty)
    }

    @Test(arguments: ["0", "1001", "fast"]) func `a speed beyond its limit is a mistake, with the limit`(speed: String)
    {
        let mistakes = mistakes(["path": Self.file, "speed": speed])
        #expect(mistakes.count == 1)
        #expect(mistakes.first?.contains("1000") == true, "\(mistakes)")
    }

    @Test func `a recording must be there, and readable`() {
        #expect(mistakes(["path": "/nowhere/a"]) == ["/nowhere/a cannot be read: it does not exist."])
        #expect(mistakes(["path": "/"]) == ["/ cannot be read: it is a folder."])
    }

    @Test func `a path is required, and an id must be one`() {
        #expect(mistakes(["speed": "max"]).count == 1)
        #expect(mistakes(["path": Self.file, "device": "No id"]).count == 1)
        #expect(mistakes(["path": Self.file, "compare": "roughly"]).count == 1)
    }
}
