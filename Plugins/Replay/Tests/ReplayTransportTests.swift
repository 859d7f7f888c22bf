import GatewayKit
import TestSupport
import Testing

@testable import Replay

@Suite struct ReplayTransportTests {
    /// A file that is there: only its reading is checked.
    private static let file = "/proc/self/status"

    private func issues(_ members: KeyValuePairs<String, String>) -> [String] {
        var reader = ConfigurationReader(.section(members))
        _ = ReplayTransport(options: &reader)
        return reader.finish().map(\.message)
    }

    @Test(arguments: ["1", "1000", "max"]) func `a speed within its limit is taken`(speed: String) {
        #expect(issues(["path": Self.file, "speed": speed]).isEmpty)
    }

    @Test(arguments: ["0", "1001", "fast"]) func `a speed beyond its limit is an error, with the limit`(speed: String) {
        let issues = issues(["path": Self.file, "speed": speed])
        #expect(issues.count == 1)
        #expect(issues.first?.contains("1000") == true, "\(issues)")
    }

    @Test func `a recording must be there, and readable`() {
        #expect(issues(["path": "/nowhere/a"]) == ["/nowhere/a cannot be read: it does not exist."])
        #expect(issues(["path": "/"]) == ["/ cannot be read: it is a folder."])
    }

    @Test func `a path is required, and an id must be one`() {
        #expect(issues(["speed": "max"]).count == 1)
        #expect(issues(["path": Self.file, "device": "No id"]).count == 1)
        #expect(issues(["path": Self.file, "compare": "roughly"]).count == 1)
    }
}
