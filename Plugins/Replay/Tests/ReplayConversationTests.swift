import Exec
import Foundation
import GATTHealth
import GatewayKit
import GatewayTesting
import Link
import Recordings
import TestSupport
import Testing
import Vitals

@testable import Replay

/// Real sessions are recorded and played again, and the driver reports the same.
@Suite struct ReplayConversationTests {
    private func options(_ members: KeyValuePairs<String, ConfigurationValue.Content>) -> ConfigurationReader {
        ConfigurationReader(
            ConfigurationValue(.map(members.map { (ConfigurationKey($0.key), ConfigurationValue($0.value)) })))
    }

    /// The history of a band that speaks Vitals Link.
    private func history(over link: Link, _ context: SessionContext) async throws -> [Sample] {
        let kept = Recorder<Sample>()
        var none = options([:])
        try await LinkDriver(options: &none).withSession(over: link, context: context) { session in
            try await withThrowingTaskGroup(of: Void.self) { group in
                // While events wait that nobody takes, an answer behind them is not read.
                group.addTask { while try await session.nextEvents() != nil {} }
                defer { group.cancelAll() }
                for metric in session.description.capabilities.metrics(with: .history) {
                    let page = try await session.history(
                        HistoryRequest(
                            metric: metric, from: Timestamp(seconds: 946_684_800),
                            to: Timestamp(seconds: 4_102_444_800), page: nil))
                    for sample in page.samples { kept.append(sample) }
                }
            }
        }
        return kept.elements
    }

    @Test func `a program that spoke Vitals Link is played again, and the same samples are reported`() async throws {
        let device = try #require(DeviceID("band-1"))
        let context = SessionContext.testing(device, clock: .system)
        let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "link-wearable").path
        let words = [program, "band"].map { ConfigurationValue(.scalar($0, isQuoted: true)) }
        var command = options(["command": .list(words)])
        // Nothing takes lines meanwhile, and the band sends for as long as a busy machine needs.
        let recorder = LinkRecorder(gateway: "test", capacity: LinkRecorder.maximumBytes)
        let link = LinkContext(device: device, logger: context.logger)
        let kept = Recorder<Sample>()
        try await ExecTransport(options: &command).withLink(context: link) { stream in
            try await recorder.recording(stream, of: device, driver: "link", mask: Mask()) { stream in
                for sample in try await history(over: stream, context) { kept.append(sample) }
            }
        }
        let recorded = kept.elements
        #expect(!recorded.isEmpty)
        recorder.stop()

        let file = FileManager.default.temporaryDirectory.appending(path: "replay-\(UUID().uuidString).jsonl")
        try Data(recorder.dequeue().bytes).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        var replay = options([
            "path": .scalar(file.path, isQuoted: true), "speed": .scalar("max", isQuoted: false),
        ])
        let transport = ReplayTransport(options: &replay)
        #expect(replay.finish().isEmpty)
        let again = Recorder<Sample>()
        try await transport.withLink(context: link) { stream in
            for sample in try await history(over: stream, context) { again.append(sample) }
        }
        #expect(again.elements == recorded)

        let error = await #expect(throws: LinkError.self) {
            try await transport.withLink(context: link) { _ in }
        }
        #expect(error?.message.contains("is over: all 1 links of band-1 were played") == true)
    }

    /// What a strap sends until three heart rates have come.
    private static func heartRates(over link: any GATTLink, _ clock: GatewayClock) async throws -> [Sample] {
        let device = try #require(DeviceID("strap"))
        var none = ConfigurationReader(ConfigurationValue(.map([])))
        let kept = Recorder<Sample>()
        try await HealthDriver(options: &none).withSession(
            over: .gatt(link), context: .testing(device, clock: clock)
        ) { session in
            var count = 0
            while count < 3, let events = try await session.nextEvents() {
                for case .samples(let samples, _) in events {
                    for sample in samples { kept.append(sample) }
                    count += samples.count
                }
            }
        }
        return kept.elements
    }

    @Test func `a strap is played again at its speed, and reports the same heart rates at the same times`() throws {
        let start = Simulation.defaultStart
        let (bytes, reported) = try Simulation.run(seed: 1, start: start, deadline: .hours(1)) { simulation in
            let clock = simulation.gatewayClock
            let strap = ScriptedPeripheral([ScriptedService(0x180d, [ScriptedCharacteristic(0x2a37, .notify)])])
            let recorder = LinkRecorder(gateway: "test", clock: clock)
            let device = try #require(DeviceID("strap"))
            let kept = Recorder<Sample>()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for rate in 70..<UInt8(73) {
                        try await clock.sleep(for: .seconds(1))
                        strap.send([0x00, rate], from: 0x2a37)
                    }
                }
                try await recorder.recording(
                    .gatt(strap.link), of: device, driver: "gatt-health", mask: Mask()
                ) { link in
                    guard case .gatt(let link) = link else { return }
                    for sample in try await Self.heartRates(over: link, clock) { kept.append(sample) }
                }
                try await group.waitForAll()
            }
            recorder.stop()
            return (recorder.dequeue().bytes, kept.elements)
        }
        #expect(reported.count == 3)
        let recorded = try #require(try Recording(bytes, path: "file").links.first)
        guard case .gatt(let services, let payload) = recorded.kind else {
            Issue.record("The recorded link is no Bluetooth link.")
            return
        }
        let again = try Simulation.run(seed: 2, start: start, deadline: .hours(1)) { simulation in
            let clock = simulation.gatewayClock
            let playback = Playback(
                recorded, path: "file", speed: .times(1), comparison: .exact, clock: clock)
            return try await Self.heartRates(
                over: ReplayedGATTLink(playback, services: services, maximumPayload: payload), clock)
        }
        #expect(again == reported)
    }
}
