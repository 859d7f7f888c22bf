import TestSupport
import Testing
import Vitals

@testable import Web

/// What was refused or lost, in plain words.
@Suite struct LossesPageTests {
    private func losses(_ household: ShownHousehold) async -> String {
        await ShownBrowser(household).text("/devices/band-1/losses")
    }

    @Test func `every announced loss is said in plain words, with its times`() async throws {
        let household = try ShownHousehold()
        try household.addBand()
        let now = household.now
        #expect(await losses(household).contains("Nothing that the gateway knows of."))
        func gap(_ reason: Gap.Reason, _ count: Int? = nil, _ refused: [RefusalReason: Int] = [:]) -> Gap {
            Gap(
                metric: count == nil ? nil : .heartRate, from: now - .hours(3), to: now - .hours(2), count: count,
                reason: reason, at: now - .hours(1), refused: refused)
        }
        household.reader.set { state in
            state.gaps = [
                gap(.evicted, 12), gap(.storeReset), gap(.device), gap(.refused, 1, [.future: 1]), gap(.refused, 1),
                gap(.erased),
            ]
        }
        let html = await losses(household)
        for words in [
            "Heart rate: 12 records were dropped before the broker had taken them.", "The store was damaged",
            "The device was away for longer than it keeps its history", "Heart rate: 1 record lies in the future.",
            "Heart rate: 1 record was not taken by the broker.", "data was erased", "times are ahead",
        ] { #expect(html.contains(words), "\(words)") }
        #expect(html.matches(of: #/<span>from [^<]+ to [^<]+</span>/#).count >= 6)
        #expect(!html.contains("store_reset"))
    }

    @Test func `records of the future that stay on the device are said`() async throws {
        let household = try ShownHousehold()
        try household.addBand()
        var sync = SyncState(lastSuccessAt: household.now)
        var row = SyncState.Row(.heartRate, .done)
        row.postponed = 1
        sync.rows = [row]
        let newest = sync
        household.reader.set { state in
            for id in state.states.keys { state.states[id]?.append(.sync(newest)) }
        }
        let html = await losses(household)
        #expect(html.contains("Heart rate: 1 record starts in the future, and stays on the device until then."))
    }

    @Test func `the announced losses of a device are shown up to a number`() async throws {
        let household = try ShownHousehold()
        try household.addBand()
        let gap = Gap(metric: nil, from: nil, to: nil, count: nil, reason: .storeReset, at: household.now)
        household.reader.set { $0.gaps = Array(repeating: gap, count: 2 * LossesBuilder.maximumGaps) }
        let html = await losses(household)
        #expect(html.matches(of: #/The store was damaged/#).count == LossesBuilder.maximumGaps)
    }

    @Test func `an alert that a device raises itself has its word instead of a limit`() async throws {
        let household = try ShownHousehold()
        try household.addBand()
        let now = household.now
        let rule = AlertRule(.heartRate, .resting, .high)
        household.reader.set { state in
            for id in state.states.keys {
                state.states[id]?.append(
                    .level(AlertLevel(rule: AlertRule(.stress, .high), isActive: true, since: now, value: 90)))
            }
            state.alerts = [
                AlertEvent(
                    id: SampleID(name: "own"), rule: rule, edge: .raised, value: 112, limit: nil, origin: .device,
                    measuredAt: now - .hours(1), raisedAt: now - .hours(1), sampleID: nil)
            ]
        }
        let browser = ShownBrowser(household)
        #expect(await browser.text("/").contains("<b>90</b>, by the device, "))
        #expect(
            await browser.text("/devices/band-1/alerts?range=month&end=2025-11-21").contains("<td>by the device</td>"))
    }
}
