import Engines
import Testing
import Vitals

@Suite struct CommandRefusalTests {
    private static let capabilities = Capabilities([
        .heartRate: [.measure, .history], .steps: [.summary], .bloodOxygen: [.monitor],
    ])
    private static let day = Fixture.utc.day(of: Fixture.noon)

    private static func history(_ metric: Metric, syncsFirst: Bool) -> DeviceCommand {
        .history(metric, from: nil, to: nil, limit: 10, page: nil, syncsFirst: syncsFirst)
    }
    private static func daily(_ metric: Metric, syncsFirst: Bool) -> DeviceCommand {
        .daily(metric, from: day, to: day, syncsFirst: syncsFirst)
    }

    @Test(
        arguments: [
            (.sync(metrics: [], from: nil, to: nil), true),
            (.sync(metrics: [.heartRate, .steps], from: nil, to: nil), true),
            (.sync(metrics: [.bloodOxygen], from: nil, to: nil), false),
            (.measure(.heartRate, duration: .seconds(30)), true), (.measure(.steps, duration: .seconds(30)), false),
            (.fetch(metrics: []), true), (.fetch(metrics: [.bloodOxygen]), true), (.fetch(metrics: [.stress]), false),
            (history(.heartRate, syncsFirst: true), true), (history(.steps, syncsFirst: true), false),
            (history(.steps, syncsFirst: false), true), (history(.battery, syncsFirst: false), true),
            (history(.sleep, syncsFirst: false), true), (history(.temperature, syncsFirst: false), false),
            (daily(.steps, syncsFirst: true), true), (daily(.bloodOxygen, syncsFirst: true), false),
            (daily(.sleep, syncsFirst: false), true), (daily(.temperature, syncsFirst: false), false),
            (.stopMeasuring(.temperature), true), (.time, true), (.reconnect, true),
            (.acknowledge(SampleID(high: 8, low: 8), by: "anna"), true),
        ] as [(DeviceCommand, Bool)])
    func `refuses what the device cannot do and the store does not have`(command: DeviceCommand, isDone: Bool) {
        // The store has sleep samples from an earlier firmware.
        let refusal = command.refusal(by: Self.capabilities) { $0 == .sleep }
        #expect((refusal == nil) == isDone)
        if let refusal { #expect(refusal.status == .rejected && refusal.code == .unsupported) }
    }
}
