import Foundation
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import Replay

@Suite final class ReplayTransportTests {
    private static let header = "{\"vitals2mqtt_recording\":1,\"gateway\":\"1\",\"began\":1767225600000}\n"

    private static func opening(_ link: Int, _ device: String) -> String {
        "{\"at\":\(link),\"link\":\(link),\"event\":\"open\",\"device\":\"\(device)\",\"driver\":\"link\",\"kind\":\"bytes\"}\n"
    }

    private let file: String

    /// A recording with the links of two devices.
    init() throws {
        file = FileManager.default.temporaryDirectory.appending(path: "replay-\(UUID().uuidString)").path
        try write(Self.header + Self.opening(1, "band-1") + Self.opening(2, "strap-1"))
    }

    deinit { try? FileManager.default.removeItem(atPath: file) }

    private func write(_ text: String) throws { try Data(text.utf8).write(to: URL(filePath: file)) }

    private func issues(_ members: KeyValuePairs<String, String>) -> [String] {
        var reader = ConfigurationReader(.section(members))
        _ = ReplayTransport(options: &reader)
        return reader.finish().map(\.message)
    }

    @Test(arguments: ["1", "1000", "max"]) func `a speed within its limit is taken`(speed: String) {
        #expect(issues(["path": file, "speed": speed]).isEmpty)
    }

    @Test func `what is no recording, or has no link of the device, is an error of the configuration`() throws {
        for device in ["band-1", "strap-1"] { #expect(issues(["path": file, "device": device]).isEmpty) }
        let known = "It has links of band-1, strap-1: name one of them as device."
        #expect(issues(["path": file, "device": "band-9"]) == ["\(file) has no link of band-9. \(known)"])
        try write("devices: []\n")
        let wrong = issues(["path": file, "device": "band-1"])
        #expect(wrong.count == 1 && wrong[0].hasPrefix("\(file) is no recording: "), "\(wrong)")
        // Without a device it is that of the entry, which the options do not know.
        try write(Self.header)
        #expect(issues(["path": file]).isEmpty)
        #expect(issues(["path": file, "device": "band-1"]).first?.contains("It has none at all.") == true)
    }

    @Test func `a link of another kind is not used up, and after the last one it says how to play it again`()
        async throws
    {
        let device = try #require(DeviceID("band-1"))
        var reader = ConfigurationReader(.section(["path": file, "speed": "max"]))
        let transport = ReplayTransport(options: &reader)
        let logger = SessionContext.testing(device, clock: .system).logger
        func failure(_ kind: LinkKind) async -> String? {
            var context = LinkContext(device: device, logger: logger)
            context.kind = kind
            do {
                try await transport.withLink(context: context) { _ in throw LinkError(.ended, "played") }
                return nil
            } catch { return (error as? LinkError)?.message }
        }
        for _ in 0..<2 {
            let wrong = await failure(.gatt)
            #expect(wrong?.hasSuffix("with the driver link; this driver needs gatt.") == true, "\(wrong ?? "")")
        }
        #expect(await failure(.bytes) == "played")
        let over = await failure(.bytes)
        #expect(over?.contains("Restart the gateway with a new store to play it again") == true, "\(over ?? "")")
    }

    @Test(arguments: ["0", "1001", "fast"]) func `a speed beyond its limit is an error, with the limit`(speed: String) {
        let issues = issues(["path": file, "speed": speed])
        #expect(issues.count == 1)
        #expect(issues.first?.contains("1000") == true, "\(issues)")
    }

    @Test func `a recording must be there, and readable`() {
        #expect(issues(["path": "/nowhere/a"]) == ["/nowhere/a cannot be read: it does not exist."])
        #expect(issues(["path": "/"]) == ["/ cannot be read: it is a folder."])
    }

    @Test func `a path is required, and an id must be one`() {
        #expect(issues(["speed": "max"]).count == 1)
        #expect(issues(["path": file, "device": "No id"]).count == 1)
        #expect(issues(["path": file, "compare": "roughly"]).count == 1)
    }
}
