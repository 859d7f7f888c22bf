import Engines
import GatewayTesting
import TestSupport
import Testing
import Vitals

@Suite struct TwinPropertyTests {
    private static let capabilities = Capabilities([
        .heartRate: [.monitor, .measure, .scheduleTime, .scheduleInterval, .restAlert, .exerciseAlert],
        .bloodPressure: [.monitor, .scheduleTime, .scheduleInterval], .stress: [.measure],
    ])
    private static let settings = MonitorSetting.all

    /// A device that applies every setting, except those that it ignores.
    private struct Device {
        var settings: MonitorSettings
        var ignored: Set<MonitorSetting> = []

        mutating func write(_ configuration: MonitorConfiguration) {
            settings.merge(MonitorSettings([configuration]).values.filter { !ignored.contains($0.key) })
        }
    }

    private static func value(_ setting: MonitorSetting, _ random: inout SplitMix64) -> MonitorSetting.Value {
        guard let range = setting.range else { return .toggle(Bool.random(using: &random)) }
        let isValid = Int.random(in: 0..<5, using: &random) > 0
        let number = Double.random(in: range.bounds, using: &random)
        return .number(isValid ? (number / range.step).rounded(.down) * range.step : range.bounds.upperBound + 1)
    }

    private static func firstSettings(_ random: inout SplitMix64) -> MonitorSettings {
        var settings = MonitorSettings.defaults(for: capabilities)
        for metric in settings.metrics where !capabilities.supports(.monitor, metric) { settings.remove(metric) }
        settings[.heartRate, .upper(.resting)] = .number(Double(Int.random(in: 90...150, using: &random)))
        return settings
    }

    private static func check(_ state: TwinState) {
        let desired = state.desired?.values ?? [:]
        let differing = Set(state.reported.values.filter { desired[$0.key] != nil && desired[$0.key] != $0.value }.keys)
        #expect(state.pending.isDisjoint(with: state.drift))
        #expect(state.pending.union(state.drift) == differing)
        #expect(state.reportedVersion <= state.version)
    }

    @Test(arguments: 0..<150) func `any patch leaves valid settings or changes nothing, and all is brought in step`(
        seed: UInt64
    ) {
        var random = SplitMix64(seed: seed)
        var device = Device(settings: Self.firstSettings(&random))
        var twin = TwinMachine(state: TwinState(updatedAt: Fixture.noon))
        twin.report(device.settings, capabilities: Self.capabilities, at: Fixture.noon)
        for minute in 1...60 {
            let now = Fixture.minute(minute)
            switch Int.random(in: 0..<4, using: &random) {
            case 0:  // a change on the device itself
                if let setting = device.settings.values.keys.sorted(by: { $0.path < $1.path }).randomElement(
                    using: &random),
                    setting.field.kind == .toggle
                {
                    device.settings[setting.metric, setting.field] = .toggle(Bool.random(using: &random))
                }
            case 1:  // the device is connected
                twin.report(device.settings, capabilities: Self.capabilities, at: now)
                for configuration in twin.writes {
                    twin.markWriting(configuration)
                    device.write(configuration)
                }
                twin.report(device.settings, capabilities: Self.capabilities, at: now)
                #expect(twin.finishWrites(failures: [], at: now) == nil)
                #expect(twin.state.pending.isEmpty)
                #expect(twin.state.error == nil)
            default: patch(&twin, at: now, &random)
            }
            Self.check(twin.state)
        }
    }

    private func patch(_ twin: inout TwinMachine, at now: Timestamp, _ random: inout SplitMix64) {
        var changes: [MonitorSetting: MonitorSetting.Value] = [:]
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            guard let setting = Self.settings.randomElement(using: &random) else { continue }
            changes[setting] = Self.value(setting, &random)
        }
        let before = twin.state
        let result = twin.apply(
            MonitorPatch(changes), ifVersion: nil, adopts: Bool.random(using: &random),
            capabilities: Self.capabilities, at: now)
        switch result {
        case .accepted:
            let changed = Set(changes.keys)
            #expect(twin.settings.violations(capabilities: Self.capabilities, changed: changed).isEmpty)
            for (setting, value) in changes { #expect(twin.settings.values[setting] == value) }
            #expect(twin.state.version - before.version == (before.desired == twin.state.desired ? 0 : 1))
            #expect(twin.state.drift.isEmpty)
        case .rejected(let violations):
            #expect(!violations.isEmpty)
            #expect(twin.state == before)
        case .unchanged, .conflict, .waiting: #expect(twin.state == before)
        }
    }

    @Test(arguments: 0..<50) func `a device that ignores a setting leaves it pending and is not asked without end`(
        seed: UInt64
    ) throws {
        var random = SplitMix64(seed: seed)
        var device = Device(settings: Self.firstSettings(&random))
        let setting = MonitorSetting(.heartRate, .upper(.resting))
        device.ignored = [setting]
        var twin = TwinMachine(state: TwinState(updatedAt: Fixture.noon))
        twin.report(device.settings, capabilities: Self.capabilities, at: Fixture.noon)
        _ = twin.apply(
            MonitorPatch([setting: .number(199)]), ifVersion: nil, adopts: false, capabilities: Self.capabilities,
            at: Fixture.noon)
        for minute in 1...3 {
            #expect(twin.writes.map(\.metric) == [.heartRate])
            for configuration in twin.writes {
                twin.markWriting(configuration)
                device.write(configuration)
            }
            twin.report(device.settings, capabilities: Self.capabilities, at: Fixture.minute(minute))
            #expect(twin.finishWrites(failures: [], at: Fixture.minute(minute)) != nil)
            #expect(twin.state.pending == [setting])
            #expect(twin.state.drift.isEmpty)
            #expect(twin.state.error != nil)
        }
    }
}
