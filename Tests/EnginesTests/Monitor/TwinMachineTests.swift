import Engines
import GatewayTesting
import TestSupport
import Testing
import Vitals

@Suite struct TwinMachineTests {
    private let capabilities = Capabilities([
        .heartRate: [.monitor, .scheduleTime, .scheduleInterval, .restAlert], .stress: [.measure],
        .bloodOxygen: [.monitor],
    ])
    private let upper = MonitorSetting(.heartRate, .upper(.resting))
    private let lower = MonitorSetting(.heartRate, .lower(.resting))

    private func reported(upper: Double = 120) -> MonitorSettings {
        var settings = MonitorSettings()
        settings.set(
            MonitorConfiguration.fixture(
                of: .heartRate, schedule: MonitorSchedule(isEnabled: true, start: 0, end: 1440, interval: 10),
                limits: [.resting: AlertLimits(isEnabled: true, lower: 45, upper: upper)]))
        return settings
    }

    private func write(_ twin: inout TwinMachine) {
        for configuration in twin.writes { twin.markWriting(configuration) }
    }

    private func connected() -> TwinMachine {
        var twin = TwinMachine(state: TwinState(updatedAt: Fixture.noon))
        twin.report(reported(), capabilities: capabilities, at: Fixture.noon)
        return twin
    }

    private func set(
        _ twin: inout TwinMachine, _ changes: [MonitorSetting: MonitorSetting.Value], ifVersion: Int? = nil,
        adopts: Bool = false
    ) -> TwinMachine.PatchResult {
        twin.apply(
            MonitorPatch(changes), ifVersion: ifVersion, adopts: adopts, capabilities: capabilities,
            at: Fixture.minute(1))
    }

    @Test func `of a metric that new firmware does not monitor any more nothing is pending`() {
        var twin = connected()
        var before = MonitorSettings()
        before.set(
            MonitorConfiguration.fixture(
                of: .bloodOxygen, schedule: MonitorSchedule(isEnabled: true, start: 0, end: 1440, interval: 30),
                limits: [.value: AlertLimits(isEnabled: true, lower: 90, upper: 100)]))
        twin.report(before, capabilities: capabilities, at: Fixture.noon)
        let later = Capabilities([.heartRate: [.monitor], .bloodOxygen: [.measure, .history]])
        twin.report(reported(), capabilities: later, at: Fixture.minute(1))
        let lower = MonitorSetting(.bloodOxygen, .lower(.value))
        let result = twin.apply(
            MonitorPatch([lower: .number(92)]), ifVersion: nil, adopts: false, capabilities: later,
            at: Fixture.minute(2))
        #expect(result == .accepted)
        #expect(twin.settings.values[lower] == .number(92))
        #expect(twin.state.pending.isEmpty && twin.writes.isEmpty)
        #expect(twin.state.reportedVersion == twin.state.version)
    }

    @Test func `wants at first what the device has, and the defaults for what it leaves to the gateway`() {
        let twin = connected()
        #expect(twin.state.version == 1)
        #expect(twin.state.reportedVersion == 1)
        #expect(twin.state.pending.isEmpty && twin.state.drift.isEmpty)
        #expect(twin.settings.values[upper] == .number(120))
        #expect(twin.settings[.stress, .scheduleEnabled] == .toggle(false))
        #expect(twin.writes.isEmpty)
    }

    @Test func `a change is pending until the device has it`() {
        var twin = connected()
        #expect(set(&twin, [upper: .number(110)]) == .accepted)
        #expect(twin.state.version == 2)
        #expect(twin.state.reportedVersion == 1)
        #expect(twin.state.pending == [upper])
        #expect(twin.writes.map(\.metric) == [.heartRate])
        #expect(twin.writes.first?.limits[.resting]?.upper == 110)
        #expect(twin.writes.first?.schedule?.interval == 10)
        write(&twin)
        twin.report(reported(upper: 110), capabilities: capabilities, at: Fixture.minute(2))
        #expect(twin.finishWrites(failures: [], at: Fixture.minute(2)) == nil)
        #expect(twin.state.pending.isEmpty)
        #expect(twin.state.reportedVersion == 2)
        #expect(twin.state.error == nil)
    }

    @Test func `a read-back that differs stays pending, with an error`() {
        var twin = connected()
        _ = set(&twin, [upper: .number(110)])
        write(&twin)
        twin.report(reported(upper: 115), capabilities: capabilities, at: Fixture.minute(2))
        #expect(twin.finishWrites(failures: [], at: Fixture.minute(2)) != nil)
        #expect(twin.state.pending == [upper])
        #expect(twin.state.drift.isEmpty)
        #expect(twin.state.error?.contains(upper.path) == true)
        #expect(twin.state.reportedVersion == 1)
    }

    @Test func `what was wanted while the device was being written to is no fault of the device`() {
        var twin = connected()
        _ = set(&twin, [upper: .number(110)])
        write(&twin)
        _ = set(&twin, [upper: .number(120)])
        twin.report(reported(upper: 110), capabilities: capabilities, at: Fixture.minute(2))
        #expect(twin.finishWrites(failures: [], at: Fixture.minute(2)) == nil)
        #expect(twin.state.pending == [upper])
        #expect(twin.state.error == nil)
        write(&twin)
        twin.report(reported(upper: 110), capabilities: capabilities, at: Fixture.minute(3))
        #expect(twin.finishWrites(failures: [], at: Fixture.minute(3))?.contains(upper.path) == true)
    }

    @Test func `a refused write says why`() {
        var twin = connected()
        _ = set(&twin, [upper: .number(110)])
        twin.report(MonitorSettings(), capabilities: capabilities, at: Fixture.minute(2))
        #expect(twin.finishWrites(failures: [(.heartRate, "no")], at: Fixture.minute(2)) == "heart_rate: no")
        #expect(twin.state.pending == [upper])
        #expect(twin.state.error == "heart_rate: no")
    }

    @Test func `what was changed on the device is shown and left alone`() {
        var twin = connected()
        twin.report(reported(upper: 130), capabilities: capabilities, at: Fixture.minute(2))
        #expect(twin.state.drift == [upper])
        #expect(twin.state.pending.isEmpty && twin.writes.isEmpty)
        #expect(twin.state.version == 1)
        #expect(set(&twin, [:], adopts: true) == .accepted)
        #expect(twin.settings.values[upper] == .number(130))
        #expect(twin.state.drift.isEmpty && twin.state.pending.isEmpty)
        #expect(twin.state.version == 2)
    }

    @Test func `what the device did not take is adopted, too, and what still waits for it is not`() {
        var twin = connected()
        _ = set(&twin, [upper: .number(110)])
        #expect(set(&twin, [:], adopts: true) == .unchanged)
        #expect(twin.state.pending == [upper])
        write(&twin)
        twin.report(reported(upper: 115), capabilities: capabilities, at: Fixture.minute(2))
        #expect(twin.finishWrites(failures: [], at: Fixture.minute(2)) != nil)
        #expect(set(&twin, [:], adopts: true) == .accepted)
        #expect(twin.settings.values[upper] == .number(115))
        #expect(twin.state.pending.isEmpty && twin.writes.isEmpty)
        #expect(twin.state.error == nil)
        #expect(twin.state.version == 3)
        #expect(twin.state.reportedVersion == 3)
    }

    @Test func `a write that the device refused is given up by adopting what it has`() {
        var twin = connected()
        _ = set(&twin, [upper: .number(110)])
        write(&twin)
        #expect(twin.finishWrites(failures: [(.heartRate, "No.")], at: Fixture.minute(2)) != nil)
        #expect(set(&twin, [:], adopts: true) == .accepted)
        #expect(twin.settings.values[upper] == .number(120))
        #expect(twin.state.pending.isEmpty && twin.writes.isEmpty)
    }

    @Test func `another setting of the same metric does not write over a drift, until somebody sets something`() {
        var twin = connected()
        twin.report(reported(upper: 130), capabilities: capabilities, at: Fixture.minute(2))
        #expect(set(&twin, [lower: .number(50)]) == .accepted)
        #expect(twin.state.pending == [lower, upper])
        #expect(
            twin.writes.first?.limits[.resting] == AlertLimits(isEnabled: true, lower: 50, upper: 120))
    }

    @Test func `saying again what is wanted settles a drift without a new version`() {
        var twin = connected()
        twin.report(reported(upper: 130), capabilities: capabilities, at: Fixture.minute(2))
        #expect(set(&twin, [upper: .number(120)]) == .accepted)
        #expect(twin.state.version == 1)
        #expect(twin.state.pending == [upper])
    }

    @Test func `a change while another one is written is neither an error of that one, nor drift`() {
        var twin = connected()
        _ = set(&twin, [upper: .number(110)])
        write(&twin)
        _ = set(&twin, [upper: .number(120)])
        #expect(twin.state.pending.isEmpty)
        twin.report(reported(upper: 110), capabilities: capabilities, at: Fixture.minute(2))
        #expect(twin.finishWrites(failures: [], at: Fixture.minute(2)) == nil)
        #expect(twin.state.drift.isEmpty)
        #expect(twin.state.pending == [upper])
        #expect(twin.state.error == nil)
    }

    @Test func `a drift that goes back is none any more`() {
        var twin = connected()
        twin.report(reported(upper: 130), capabilities: capabilities, at: Fixture.minute(2))
        twin.report(reported(), capabilities: capabilities, at: Fixture.minute(3))
        #expect(twin.state.drift.isEmpty)
    }

    @Test func `an unchanged patch changes nothing`() {
        var twin = connected()
        let before = twin.state
        #expect(set(&twin, [upper: .number(120)]) == .unchanged)
        #expect(set(&twin, [:]) == .unchanged)
        #expect(set(&twin, [:], adopts: true) == .unchanged)
        #expect(twin.state == before)
    }

    @Test func `an error or another version changes nothing`() {
        var twin = connected()
        let before = twin.state
        #expect(set(&twin, [upper: .number(110)], ifVersion: 7) == .conflict(current: 1))
        guard case .rejected(let violations) = set(&twin, [upper: .number(40), lower: .number(45)]) else {
            Issue.record("the upper limit is below the lower one")
            return
        }
        #expect(violations.map(\.path) == [upper.path])
        #expect(twin.state == before)
        #expect(set(&twin, [upper: .number(110)], ifVersion: 1) == .accepted)
    }

    @Test func `a patch before the first connection waits and is merged into what the device has`() {
        var twin = TwinMachine(state: TwinState(updatedAt: Fixture.noon))
        func wait(_ changes: [MonitorSetting: MonitorSetting.Value]) -> TwinMachine.PatchResult {
            twin.apply(MonitorPatch(changes), ifVersion: nil, adopts: false, capabilities: nil, at: Fixture.noon)
        }
        #expect(wait([upper: .number(110)]) == .waiting)
        #expect(wait([upper: .number(110)]) == .unchanged)
        #expect(wait([lower: .number(50)]) == .waiting)
        #expect(twin.state.pending == [upper, lower])
        #expect(twin.state.version == 2)
        twin.report(reported(), capabilities: capabilities, at: Fixture.minute(1))
        #expect(twin.state.waiting == nil)
        #expect(twin.state.version == 3)
        #expect(twin.state.pending == [upper, lower])
        #expect(
            twin.writes.first?.limits[.resting] == AlertLimits(isEnabled: true, lower: 50, upper: 110))
        #expect(twin.writes.first?.schedule?.isEnabled == true)
    }

    @Test func `a waiting patch that the device cannot do is dropped and said`() {
        var twin = TwinMachine(state: TwinState(updatedAt: Fixture.noon))
        let temperature = MonitorSetting(.temperature, .upper(.value))
        _ = twin.apply(
            MonitorPatch([temperature: .number(38)]), ifVersion: nil, adopts: false, capabilities: nil,
            at: Fixture.noon)
        twin.report(reported(), capabilities: capabilities, at: Fixture.minute(1))
        #expect(twin.state.error?.contains(temperature.path) == true)
        #expect(twin.state.waiting == nil)
        #expect(twin.state.pending.isEmpty)
    }

    @Test func `what the device cannot do is refused as soon as that is known`() {
        var twin = TwinMachine(state: TwinState(updatedAt: Fixture.noon))
        let result = set(&twin, [MonitorSetting(.temperature, .upper(.value)): .number(38)])
        guard case .rejected(let violations) = result else {
            Issue.record("the device has no temperature")
            return
        }
        #expect(violations.map(\.code) == [.unsupported])
    }

    @Test func `a metric that could not be read at first is not written over with defaults`() {
        var twin = TwinMachine(state: TwinState(updatedAt: Fixture.noon))
        twin.report(MonitorSettings(), capabilities: capabilities, at: Fixture.noon)
        #expect(twin.state.desired != nil)
        #expect(twin.settings[.heartRate] == nil)
        twin.report(reported(), capabilities: capabilities, at: Fixture.minute(1))
        #expect(twin.settings.values[upper] == .number(120))
        #expect(twin.state.pending.isEmpty && twin.state.drift.isEmpty)
    }
}
