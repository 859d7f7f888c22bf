import Engines
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@Suite struct AgentMonitorTests {
    private static let schedule = MonitorSchedule(isEnabled: true, start: 480, end: 1200, interval: 30)
    private static let start = MonitorSetting(.bloodOxygen, .scheduleStart)

    private static func content() -> ScriptedSession.Content {
        .init(monitors: [.bloodOxygen: MonitorConfiguration.fixture(of: .bloodOxygen, schedule: schedule)])
    }

    private static func set(_ minute: Int, ifVersion: Int? = nil) -> DeviceCommand {
        .configure(MonitorPatch([start: .number(Double(minute))]), ifVersion: ifVersion, adopts: false)
    }

    private func twin(_ rig: AgentRig) async throws -> TwinState? {
        try await rig.store.record(of: Fixture.device).twin
    }

    @Test func `a change is written, read back and confirmed`() throws {
        try AgentRig.synced(content: Self.content()) { rig, agent in
            let value = try await rig.ask(Self.set(540), "c", of: agent)
            #expect(value == Answer(.done, data: .version(2, pending: [])))
            #expect(rig.session?.content.monitors[.bloodOxygen]?.schedule?.start == 540)
            #expect(rig.session?.content.monitors[.bloodOxygen]?.schedule?.interval == 30)
        } then: { rig in
            let value = try await twin(rig)?.pending
            #expect(value == [])
            #expect(try await twin(rig)?.reportedVersion == 2)
        }
    }

    @Test func `the rules of limits that hold have a level before any value, also after a restart`() throws {
        try AgentRig.everyOrder(0..<10) { environment in
            var content = Self.content()
            content.monitors[.bloodOxygen] = .fixture(
                of: .bloodOxygen, schedule: Self.schedule,
                limits: [.value: AlertLimits(isEnabled: true, lower: 92, upper: 100)])
            let rig = AgentRig(environment, content: content)
            let rules = [AlertRule(.bloodOxygen, .high), AlertRule(.bloodOxygen, .low)]
            try await rig.run { _ in try await rig.waitForSync() }
            let levels = rig.levels
            #expect(levels.map(\.rule) == rules)
            #expect(levels.allSatisfy { !$0.isActive && $0.value == nil && $0.limit == nil && $0.lastID == nil })
            let count = rig.count
            try await rig.run { _ in try await rig.waitForSync(after: count) }
            #expect(rig.levels == levels + levels)
        }
    }

    @Test func `a change while the device is offline is done, pending, and brought to it when it comes`() throws {
        try AgentRig.running(content: Self.content(), given: { $0.open(.hang) }) { rig, agent in
            #expect(try await rig.ask(Self.set(540), "c", of: agent).status == .done)
            #expect(try await twin(rig)?.pending == [Self.start])
            _ = try await rig.ask(.reconnect, "r", of: agent)
            try await rig.waitForSync()
            #expect(rig.session?.content.monitors[.bloodOxygen]?.schedule?.start == 540)
            #expect(try await twin(rig)?.pending == [])
            let count = rig.count
            rig.open(.refuse)
            rig.session?.disconnect()
            try await rig.waitForLink(.waiting, after: count)
            #expect(try await rig.ask(Self.set(600), "d", of: agent).status == .done)
            try await rig.waitForSync(after: count)
        } then: { rig in
            #expect(rig.session?.content.monitors[.bloodOxygen]?.schedule?.start == 600)
            let value = try await twin(rig)?.pending
            #expect(value == [])
        }
    }

    @Test func `a change right after the connection waits for the first report`() throws {
        try AgentRig.running(
            content: Self.content(), given: { $0.behave(.delay(.seconds(5)), on: .monitorConfiguration) }
        ) { rig, agent in
            try await rig.waitForLink(.connected)
            #expect(try await rig.ask(Self.set(540), "c", of: agent).status == .done)
            #expect(rig.session?.content.monitors[.bloodOxygen]?.schedule?.start == 540)
            #expect(try await twin(rig)?.pending == [])
        }
    }

    @Test func `a change while the device is offline is done, and says what is pending`() throws {
        try AgentRig.synced(0..<5, content: Self.content()) { rig, agent in
            rig.open(.hang)
            rig.session?.disconnect()
            try await rig.waitForLink(.waiting)
            let answer = try await rig.ask(Self.set(540), "c", of: agent)
            #expect(answer == Answer(.done, data: .version(2, pending: [Self.start])))
        }
    }

    @Test func `what the device does not take stays pending, and says so`() throws {
        try AgentRig.synced(0..<10, content: Self.content()) { rig, agent in
            rig.behave(.fail(DeviceError(.failure, "No.")), on: .setMonitorConfiguration)
            let answer = try await rig.ask(Self.set(540), "c", of: agent)
            #expect(answer.status == .failed)
            #expect(answer.code == .deviceError)
            #expect(try await twin(rig)?.pending == [Self.start])
            rig.behave(.fail(DeviceError(.failure, "No.")), on: .monitorConfiguration)
            #expect(try await rig.ask(Self.set(600), "d", of: agent).status == .failed)
            rig.behave { _ in .answer }
            let count = rig.count
            _ = try await rig.ask(.reconnect, "r", of: agent)
            try await rig.waitForSync(after: count)
        } then: { rig in
            let value = try await twin(rig)?.pending
            #expect(value == [])
            #expect(try await twin(rig)?.error == nil)
        }
    }

    @Test func `a change on the device itself is shown, left alone, and adopted`() throws {
        try AgentRig.synced(0..<10, content: Self.content()) { rig, agent in
            rig.change { $0.monitors[.bloodOxygen]?.schedule?.start = 0 }
            let fetched = try await rig.ask(.fetch(metrics: []), "f", of: agent)
            guard case .settings(let settings, of: [.bloodOxygen]) = fetched.data else {
                Issue.record("\(fetched)")
                return
            }
            #expect(settings[.bloodOxygen]?.schedule?.start == 0)
            #expect(try await twin(rig)?.drift == [Self.start])
            #expect(try await twin(rig)?.version == 1)
            let adopt = DeviceCommand.configure(MonitorPatch(), ifVersion: nil, adopts: true)
            #expect(try await rig.ask(adopt, "a", of: agent).status == .done)
            #expect(rig.session?.content.monitors[.bloodOxygen]?.schedule?.start == 0)
        } then: { rig in
            let value = try await twin(rig)?.drift
            #expect(value == [])
            #expect(try await twin(rig)?.desired?[.bloodOxygen]?.schedule?.start == 0)
            #expect(!rig.calls.contains { $0.kind == .setMonitorConfiguration })
        }
    }

    @Test func `a value that the device keeps otherwise is given up by adopting its own`() throws {
        try AgentRig.synced(0..<10, content: Self.content()) { rig, agent in
            rig.behave(.fail(DeviceError(.failure, "No.")), on: .setMonitorConfiguration)
            let value = try await rig.ask(Self.set(540), "c", of: agent).status
            #expect(value == .failed)
            let adopt = DeviceCommand.configure(MonitorPatch(), ifVersion: nil, adopts: true)
            #expect(try await rig.ask(adopt, "a", of: agent) == Answer(.done, data: .version(3, pending: [])))
            #expect(try await twin(rig)?.desired?[.bloodOxygen]?.schedule?.start == 480)
            #expect(try await twin(rig)?.pending == [])
            #expect(try await twin(rig)?.error == nil)
        } then: { rig in
            #expect(rig.calls.count { $0.kind == .setMonitorConfiguration } == 1)
        }
    }

    @Test func `changes keep their order, and the last one holds`() throws {
        try AgentRig.synced(content: Self.content()) { rig, agent in
            for minute in 1...20 { await rig.submit(Self.set(minute, ifVersion: minute), "c\(minute)", to: agent) }
            for minute in 1...20 {
                let answer = try await rig.answer("c\(minute)")
                #expect(answer.status == .done)
            }
            #expect(rig.session?.content.monitors[.bloodOxygen]?.schedule?.start == 20)
            #expect(try await rig.ask(Self.set(30, ifVersion: 3), "late", of: agent).code == .conflict)
        } then: { rig in
            let value = try await twin(rig)?.version
            #expect(value == 21)
        }
    }

    @Test func `an error is answered with its violations, and the configuration said again`() throws {
        try AgentRig.synced(0..<5, content: Self.content()) { rig, agent in
            let count = rig.count
            let answer = try await rig.ask(Self.set(1300), "c", of: agent)
            #expect(answer.status == .rejected)
            #expect(answer.code == .invalid)
            #expect(answer.violations.map(\.path) == ["blood_oxygen.schedule.end"])
            try await rig.wait(after: count) { $0.part == .config }
        }
    }

    @Test func `a change on the device after it refused a write is drift`() throws {
        try AgentRig.synced(0..<10, content: Self.content()) { rig, agent in
            rig.behave(.fail(DeviceError(.failure, "No.")), on: .setMonitorConfiguration)
            let value = try await rig.ask(Self.set(540), "a", of: agent).status
            #expect(value == .failed)
            rig.behave { _ in .answer }
            #expect(try await rig.ask(Self.set(480), "b", of: agent).status == .done)
            rig.change { $0.monitors[.bloodOxygen]?.schedule?.start = 0 }
            #expect(try await rig.ask(.fetch(metrics: []), "c", of: agent).status == .done)
            #expect(try await twin(rig)?.drift == [Self.start])
            #expect(rig.session?.content.monitors[.bloodOxygen]?.schedule?.start == 0)
        }
    }

    @Test func `what the device has is shown and kept, also where the store did not take it at first`() throws {
        try AgentRig.synced(0..<10, content: Self.content()) { rig, agent in
            rig.store.fail { $0 == .save ? StoreError(.full, "full") : nil }
            rig.change { $0.monitors[.bloodOxygen]?.schedule?.start = 0 }
            let count = rig.count
            _ = try await rig.ask(.fetch(metrics: []), "a", of: agent)
            try await rig.wait(after: count) { $0.asConfig?.drift == [Self.start] }
            rig.store.fail(nil)
            _ = try await rig.ask(.fetch(metrics: []), "b", of: agent)
            #expect(try await twin(rig)?.drift == [Self.start])
        }
    }

    @Test func `a change that could not be kept leaves it unknown what could not be read`() throws {
        try AgentRig.synced(
            0..<10, content: Self.content(),
            given: { $0.behave(.fail(DeviceError(.busy, "No.")), on: .monitorConfiguration) }
        ) { rig, agent in
            rig.store.fail { $0 == .save ? StoreError(.full, "full") : nil }
            let value = try await rig.ask(Self.set(540), "a", of: agent).status
            #expect(value == .failed)
            rig.store.fail(nil)
            #expect(try await rig.ask(Self.set(540), "b", of: agent).status == .failed)
            #expect(try await twin(rig)?.pending.contains(Self.start) == true)
        }
    }

    @Test func `what cannot be kept is not changed`() throws {
        try AgentRig.synced(0..<5, content: Self.content()) { rig, agent in
            rig.store.fail { $0 == .save ? StoreError(.full, "full") : nil }
            let value = try await rig.ask(Self.set(540), "c", of: agent).status
            #expect(value == .failed)
            rig.store.fail(nil)
            #expect(rig.session?.content.monitors[.bloodOxygen]?.schedule?.start == 480)
            #expect(try await rig.ask(Self.set(540, ifVersion: 1), "d", of: agent).status == .done)
        }
    }
}
