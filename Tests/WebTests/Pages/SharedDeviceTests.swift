import TestSupport
import Testing
import Vitals

@testable import Web

/// A device that several persons wear, on the overview.
@Suite struct SharedDeviceTests {
    /// A scale of Anna (slot 1) and Ben (slot 2), whose newest value is Ben's.
    private func family() throws -> (household: ShownHousehold, scale: DeviceID) {
        let household = try ShownHousehold()
        let scale = try #require(DeviceID("scale"))
        try weigh(81.5, user: 2, ago: .hours(1), on: scale, in: household)
        try weigh(60.5, user: 1, ago: .days(3), on: scale, in: household)
        household.reader.set { state in
            state.devices = [
                ConfiguredDevice(id: scale, name: "Scale", driver: "simulator", people: [1: "Anna", 2: "Ben"])
            ]
        }
        return (household, scale)
    }

    /// Stores a weight, which is the newest state of the device if none is newer.
    private func weigh(
        _ weight: Double, user: Int, ago: Duration, on scale: DeviceID, in household: ShownHousehold
    ) throws {
        let end = household.now - ago
        let stored = StoredSample(
            sample: Sample(metric: .weight, start: end, user: user, reading: .value(weight)), of: scale, revision: 1,
            receivedAt: end)
        household.reader.set { state in
            state.samples[.weight] = ((state.samples[.weight] ?? []) + [stored]).sorted {
                $0.sample.start < $1.sample.start
            }
            guard let newest = state.samples[.weight]?.last else { return }
            state.states[scale] = [.latest(LatestState(stored: newest, freshUntil: nil, isStale: false))]
        }
    }

    /// The weights of the overview's parts, by their keys.
    private func tiles(_ household: ShownHousehold) async -> [String: String] {
        let content = await household.site.content(
            of: LivePages.Key(place: .overview, rights: .everything), at: household.now)
        return content.parts.reduce(into: [:]) { tiles, part in
            if let tile = part.model as? ValueTile { tiles[part.key] = tile.text }
        }
    }

    @Test func `everybody who shares a device has a tile with the own newest value`() async throws {
        let (household, _) = try family()
        let html = await ShownBrowser(household).text("/")
        #expect(html.contains("60.5") && html.contains("81.5"))
        for user in 1...2 { #expect(html.contains("data-live=\"value.scale.weight.\(user)\"")) }
        #expect(await tiles(household) == ["value.scale.weight.1": "60.5", "value.scale.weight.2": "81.5"])
    }

    @Test func `a value stays with its wearer when another one is the newest`() async throws {
        let (household, scale) = try family()
        _ = await ShownBrowser(household).get("/")
        try weigh(59.5, user: 1, ago: .minutes(1), on: scale, in: household)
        #expect(await tiles(household) == ["value.scale.weight.1": "59.5", "value.scale.weight.2": "81.5"])
    }

    @Test func `the values of other wearers are read from the store now and then`() async throws {
        let (household, scale) = try family()
        let browser = ShownBrowser(household)
        func readings() async -> Int {
            let before = household.reader.seen.readings
            _ = await browser.get("/")
            return household.reader.seen.readings - before
        }
        #expect(await readings() > 0)
        #expect(await readings() == 0)
        // Between two values of the state somebody else's may be hidden.
        try weigh(59.5, user: 1, ago: .minutes(2), on: scale, in: household)
        try weigh(80.5, user: 2, ago: .minutes(1), on: scale, in: household)
        #expect(await readings() > 0)
        #expect(await tiles(household) == ["value.scale.weight.1": "59.5", "value.scale.weight.2": "80.5"])
        household.clock.advance(by: WearerValues.age)
        #expect(await readings() > 0)
        household.reader.set { state in
            state.devices = (0..<2 * WearerValues.maximum).compactMap { DeviceID("scale-\($0)") }.map {
                ConfiguredDevice(id: $0, name: "Scale", driver: "simulator", people: [1: "Anna", 2: "Ben"])
            }
            for device in state.devices { state.states[device.id] = state.states[scale] }
        }
        // Both values are in the first span; then the small plots are read.
        #expect(await readings() == WearerValues.maximum + Sparklines.maximum)
    }

    @Test func `an alert marks the value of its metric and its person only`() throws {
        let (household, scale) = try family()
        func device(_ metric: Metric, user: Int?) -> ShownDevice {
            let level = AlertLevel(
                rule: AlertRule(metric, .high), isActive: true, since: household.now, value: 1, limit: nil, user: user)
            return ShownDevice(
                ConfiguredDevice(id: scale, name: "Scale", driver: "simulator", people: [1: "Anna", 2: "Ben"]),
                [.level(level)])
        }
        func sample(_ metric: Metric, user: Int?) -> Sample {
            Sample(metric: metric, start: household.now, user: user, reading: .value(60))
        }
        let annas = device(.heartRate, user: 1)
        #expect(annas.isAlarming(sample(.heartRate, user: 1)) && !annas.isAlarming(sample(.heartRate, user: 2)))
        #expect(!annas.isAlarming(sample(.restingHeartRate, user: 1)))
        #expect(device(.heartRate, user: nil).isAlarming(sample(.heartRate, user: 2)))
    }
}
