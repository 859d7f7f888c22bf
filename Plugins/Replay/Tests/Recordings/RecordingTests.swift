import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import Recordings

@Suite struct RecordingTests {
    private let header = "{\"vitals2mqtt_recording\":1,\"gateway\":\"1\",\"began\":1767225600000}\n"
    private let open =
        "{\"at\":0,\"link\":1,\"event\":\"open\",\"device\":\"band-1\",\"driver\":\"link\",\"kind\":\"bytes\"}\n"

    private func read(_ text: String) throws -> Recording { try Recording(Array(text.utf8), path: "file") }

    /// The text of the error with which a recording is refused.
    private func refusal(_ text: String) -> String {
        do { return "taken: \(try read(text))" } catch { return "\(error)" }
    }

    @Test func `what is recorded of a stream is read again, with its times and in its order`() async throws {
        try Simulation.run(seed: 1, deadline: .hours(1)) { simulation in
            let clock = simulation.gatewayClock
            let device = try #require(DeviceID("band-1"))
            let (gateway, peer) = ScriptedByteLink.pair(clock: clock)
            let recorder = LinkRecorder(gateway: "1", clock: clock)
            try await recorder.recording(
                .bytes(gateway), of: device, driver: "link", mask: Mask(secrets: ["geheim"])
            ) { link in
                guard case .bytes(let stream) = link else { return }
                try await stream.write([1, 2])
                try await clock.sleep(for: .milliseconds(50))
                try await peer.write(Array("geheim".utf8))
                _ = try await stream.read(atMost: 100)
                peer.close()
                _ = try await stream.read(atMost: 100)
            }
            recorder.stop()
            let recording = try Recording(recorder.dequeue().bytes, path: "file")
            #expect(recording.began == Simulation.defaultStart)
            #expect(recording.stop == .done)
            let link = try #require(recording.links(of: device, path: "file").first)
            #expect(link.driver == "link")
            #expect(
                link.events == [
                    RecordedEvent(at: .zero, line: 3, content: .sent(RecordedBytes([1, 2]))),
                    RecordedEvent(
                        at: .milliseconds(50), line: 4,
                        content: .received(RecordedBytes(Array("******".utf8), masked: [0..<6]))),
                    RecordedEvent(at: .milliseconds(50), line: 5, content: .end(.byDevice)),
                ])
        }
    }

    @Test func `a recording ends at its size with a line that says so, and the link goes on`() async throws {
        let device = try #require(DeviceID("band-1"))
        let (gateway, peer) = ScriptedByteLink.pair(clock: .system)
        let recorder = LinkRecorder(gateway: "1", limit: 2_000)
        try await recorder.recording(.bytes(gateway), of: device, driver: "link", mask: Mask()) { link in
            guard case .bytes(let stream) = link else { return }
            for byte in 0..<100 { try await stream.write([UInt8](repeating: UInt8(byte), count: 100)) }
        }
        #expect(peer.waiting == 10_000)
        let (bytes, isLast) = recorder.dequeue()
        #expect(isLast)
        #expect(bytes.count <= 2_000)
        let recording = try Recording(bytes, path: "file")
        #expect(recording.stop == .limit)
        #expect(try !#require(recording.links.first).events.isEmpty)
    }

    @Test func `a recorder skips whole lines on a slow disk, which is reported, and the link goes on`() async throws {
        let device = try #require(DeviceID("band-1"))
        let (gateway, peer) = ScriptedByteLink.pair(clock: .system)
        let recorder = LinkRecorder(gateway: "1", capacity: 1_000)
        try await recorder.recording(.bytes(gateway), of: device, driver: "link", mask: Mask()) { link in
            guard case .bytes(let stream) = link else { return }
            for _ in 0..<100 { try await stream.write([UInt8](repeating: 7, count: 100)) }
        }
        #expect(peer.waiting == 10_000)
        recorder.stop()
        #expect(throws: RecordingError.self) { try Recording(recorder.dequeue().bytes, path: "file") }
    }

    @Test func `a recording of a gateway that was killed is whole up to its last line`() throws {
        let recording = try read(header + open)
        #expect(recording.stop == .killed)
        #expect(recording.links.map(\.device.text) == ["band-1"])
    }

    @Test func `bad files say what is wrong and what to do`() throws {
        #expect(refusal("").contains("is no recording"))
        #expect(refusal("devices:\n").contains("Make one with run --record"))
        #expect(refusal(header.replacing(":1,", with: ":2,")).contains("has version 2 of the format"))
        #expect(refusal(header + open + "{\"at\":1,\"li").contains("is cut off in line 3"))
        #expect(refusal(header + open + "{\"at\":1,\"li\n").contains("file, line 3"))
        let event = "\"link\":1,\"event\":\"sent\",\"bytes\":"
        #expect(refusal(header + open + "{\"at\":1,\(event)\"0\"}\n").contains("pairs of hexadecimal digits"))
        #expect(refusal(header + "{\"at\":1,\(event)\"00\"}\n").contains("was never opened"))
        #expect(
            refusal(header + open + "{\"at\":1,\(event)\"00\",\"masked\":[[0,2]]}\n").contains("within the bytes"))
        #expect(
            refusal(header + open + "{\"at\":9,\(event)\"00\"}\n{\"at\":8,\(event)\"00\"}\n")
                .contains("The time goes back"))
        #expect(
            refusal(header + open + "{\"at\":1,\"event\":\"lost\",\"lines\":3}\n").contains("3 lines are missing"))
        let recording = try read(header + open)
        let other = try #require(DeviceID("ring-1"))
        do {
            _ = try recording.links(of: other, path: "file")
            Issue.record("A device that is not in the recording was found.")
        } catch {
            #expect("\(error)".hasSuffix("no link of ring-1. It has links of band-1: name one of them as device."))
        }
    }
}
