import Engines
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

/// The monitoring of every monitored metric, with all settings.
@Suite struct AgentMonitorMetricTests {
    private static let capabilities = Capabilities(
        Dictionary(
            uniqueKeysWithValues: Metric.monitored.map { metric in
                (metric, [.monitor, .scheduleTime, .scheduleInterval, .alert, .restAlert, .exerciseAlert])
            }))
    private static let onDevice = MonitorSettings.defaults(for: capabilities)

    private static func content() -> ScriptedSession.Content {
        .init(
            monitors: Dictionary(uniqueKeysWithValues: onDevice.metrics.map { ($0, onDevice[$0] ?? .fixture(of: $0)) }))
    }

    /// A different value for every setting of a metric, all within range.
    private static func changes(_ metric: Metric) -> MonitorPatch {
        var patch = MonitorPatch()
        for (setting, value) in onDevice.values where setting.metric == metric {
            switch value {
            case .toggle(let isOn): patch.changes[setting] = .toggle(!isOn)
            case .number(let number):
                let isUpper = setting.range.map { number + $0.step > $0.bounds.upperBound } ?? false
                patch.changes[setting] = .number(number + (isUpper ? -1 : 1) * (setting.range?.step ?? 1))
            }
        }
        return patch
    }

    @Test(arguments: Metric.monitored)
    func `fetches every setting of a metric as the device has it`(metric: Metric) throws {
        try AgentRig.synced(0..<2, capabilities: Self.capabilities, content: Self.content()) { rig, agent in
            let answer = try await rig.ask(.fetch(metrics: [metric]), "f", of: agent)
            let expected = MonitorSettings(Self.onDevice.values.filter { $0.key.metric == metric })
            guard case .settings(let found, of: [metric])? = answer.data else {
                Issue.record("\(answer.status) without the settings of \(metric)")
                return
            }
            #expect(answer.status == .done)
            #expect(found.values.filter { $0.key.metric == metric } == expected.values)
            #expect(expected.values.count == MonitorSetting.all.count { $0.metric == metric })
        }
    }

    @Test(arguments: Metric.monitored)
    func `pushes every setting of a metric, and only that metric`(metric: Metric) throws {
        let patch = Self.changes(metric)
        try AgentRig.synced(0..<2, capabilities: Self.capabilities, content: Self.content()) { rig, agent in
            let answer = try await rig.ask(.configure(patch, ifVersion: nil, adopts: false), "c", of: agent)
            #expect(answer == Answer(.done, data: .version(2, pending: [])))
            var expected = Self.onDevice
            expected.merge(patch.changes)
            for other in Metric.monitored {
                #expect(rig.session?.content.monitors[other] == expected[other], "\(other)")
            }
            let twin = try #require(try await rig.store.record(of: Fixture.device).twin)
            #expect(twin.reported == expected)
            #expect(twin.pending == [])
        } then: { rig in
            #expect(rig.calls.compactMap(\.asWrite) == [metric])
        }
    }

    @Test(arguments: Metric.monitored)
    func `what was read before the device fell silent is answered`(metric: Metric) throws {
        try AgentRig.synced(0..<2, capabilities: Self.capabilities, content: Self.content()) { rig, agent in
            rig.behave { $0 == .monitorConfiguration(metric) ? .hang : .answer }
            let answer = try await rig.ask(.fetch(metrics: []), "f", of: agent)
            #expect((answer.status, answer.code) == (.failed, .timeout))
            let (found, read) = try #require(answer.asSettings, "\(answer)")
            let asked = Self.capabilities.metrics(with: .monitor)
            #expect(Set(read) == Set(asked.prefix { $0 != metric }))
            #expect(read.allSatisfy { found[$0] == Self.onDevice[$0] })
        }
    }

    @Test func `what was read is answered, also if the device falls silent while a change is written`() throws {
        try AgentRig.synced(0..<3, capabilities: Self.capabilities, content: Self.content()) { rig, agent in
            rig.behave(.fail(DeviceError(.busy, "Not now.")), on: .setMonitorConfiguration)
            let patch = Self.changes(.stress)
            _ = try await rig.ask(.configure(patch, ifVersion: nil, adopts: false), "c", of: agent)
            rig.behave(.hang, on: .setMonitorConfiguration)
            let answer = try await rig.ask(.fetch(metrics: []), "f", of: agent)
            let (found, read) = try #require(answer.asSettings, "\(answer)")
            #expect(answer.status == .done)
            #expect(Set(read) == Set(Metric.monitored))
            #expect(found[.temperature] == Self.onDevice[.temperature])
        }
    }

    @Test(arguments: Metric.monitored)
    func `a device that is lost while it is written to takes the change at its next connection`(metric: Metric) throws {
        let patch = Self.changes(metric)
        try AgentRig.synced(0..<2, capabilities: Self.capabilities, content: Self.content()) { rig, agent in
            rig.behave(.hang, on: .setMonitorConfiguration)
            await rig.submit(.configure(patch, ifVersion: nil, adopts: false), "c", to: agent)
            while !rig.calls.contains(where: { $0.kind == .setMonitorConfiguration }) {
                try await rig.sleep(for: .milliseconds(1))
            }
            let count = rig.count
            rig.session?.disconnect()
            let answer = try await rig.answer("c")
            #expect((answer.status, answer.code) == (.done, .disconnected))
            #expect(answer.data == .version(2, pending: Set(patch.changes.keys)))
            #expect(try await rig.store.record(of: Fixture.device).twin?.pending == Set(patch.changes.keys))
            rig.behave { _ in .answer }
            try await rig.waitForSync(after: count, job: "connect")
        } then: { rig in
            let value = try await rig.store.record(of: Fixture.device).twin?.pending
            #expect(value == [])
        }
    }

    @Test(arguments: Metric.monitored)
    func `what is wanted of a metric that could not be read is pending, until it can be`(metric: Metric) throws {
        let patch = Self.changes(metric)
        try AgentRig.synced(
            0..<2, capabilities: Self.capabilities, content: Self.content(),
            given: { rig in
                rig.behave {
                    $0 == .monitorConfiguration(metric) ? .fail(DeviceError(.busy, "Not now.")) : .answer
                }
            }
        ) { rig, agent in
            let refused = try await rig.ask(.configure(patch, ifVersion: nil, adopts: false), "c", of: agent)
            #expect((refused.status, refused.code) == (.failed, .deviceError))
            #expect(refused.message?.hasPrefix("The device did not say how it is set") == true)
            var twin = try #require(try await rig.store.record(of: Fixture.device).twin)
            #expect(twin.pending == Set(patch.changes.keys))
            #expect(twin.reportedVersion == 1)
            rig.behave { _ in .answer }
            #expect(try await rig.ask(.fetch(metrics: [metric]), "f", of: agent).status == .done)
            twin = try #require(try await rig.store.record(of: Fixture.device).twin)
            #expect(twin.pending == [])
            #expect(twin.reportedVersion == 2)
            var expected = Self.onDevice
            expected.merge(patch.changes)
            #expect(rig.session?.content.monitors[metric] == expected[metric])
        }
    }

    @Test func `a metric that was busy is read again before a write, and one without settings is not written`() throws {
        try AgentRig.synced(
            0..<2, capabilities: Self.capabilities, content: Self.content(),
            given: { rig in
                rig.behave {
                    switch $0 {
                    case .monitorConfiguration(.stress): .fail(DeviceError(.busy, "Not now."))
                    case .monitorConfiguration(.temperature): .fail(DeviceError(.unsupported, "Never."))
                    default: .answer
                    }
                }
            }
        ) { rig, agent in
            rig.behave {
                $0 == .monitorConfiguration(.temperature) ? .fail(DeviceError(.unsupported, "Never.")) : .answer
            }
            for metric in [Metric.stress, .temperature] {
                let patch = Self.changes(metric)
                let answer = try await rig.ask(
                    .configure(patch, ifVersion: nil, adopts: false), metric.rawValue, of: agent)
                #expect(answer.status == .done)
                #expect(try await rig.store.record(of: Fixture.device).twin?.pending == [])
            }
            var expected = Self.onDevice
            expected.merge(Self.changes(.stress).changes)
            #expect(rig.session?.content.monitors[.stress] == expected[.stress])
            #expect(rig.session?.content.monitors[.temperature] == Self.onDevice[.temperature])
        }
    }

    @Test(arguments: Metric.monitored)
    func `what could be read is answered, also where one metric failed`(metric: Metric) throws {
        try AgentRig.synced(0..<2, capabilities: Self.capabilities, content: Self.content()) { rig, agent in
            rig.behave { $0 == .monitorConfiguration(metric) ? .fail(DeviceError(.busy, "Not now.")) : .answer }
            let answer = try await rig.ask(.fetch(metrics: []), "f", of: agent)
            #expect((answer.status, answer.code) == (.failed, .busy))
            #expect(answer.message == "\(metric.rawValue): Not now.")
            let (found, read) = try #require(answer.asSettings, "\(answer)")
            #expect(read == Metric.monitored.filter { $0 != metric })
            #expect(read.allSatisfy { found[$0] == Self.onDevice[$0] })
        }
    }

    @Test(arguments: Metric.monitored)
    func `a device that is lost while it is asked, or cannot answer, is an error`(metric: Metric) throws {
        try AgentRig.synced(0..<2, capabilities: Self.capabilities, content: Self.content()) { rig, agent in
            rig.behave(.hang, on: .monitorConfiguration)
            let reads = rig.calls.count
            await rig.submit(.fetch(metrics: [metric]), "f", to: agent)
            while rig.calls.count == reads { try await rig.sleep(for: .milliseconds(1)) }
            rig.session?.disconnect()
            #expect(try await rig.answer("f").code == .offline)
            rig.behave(.fail(DeviceError(.failure, "No.")), on: .monitorConfiguration)
            let count = rig.count
            try await rig.waitForLink(.connected, after: count)
            let answer = try await rig.ask(.fetch(metrics: [metric]), "g", of: agent)
            #expect((answer.status, answer.code, answer.message) == (.failed, .deviceError, "\(metric.rawValue): No."))
        }
    }

    /// An oximeter ring records as long as it is worn, and vibrates beyond its limits.
    @Test func `limits of a device without a schedule are fetched and pushed`() throws {
        let lower = MonitorSetting(.bloodOxygen, .lower(.value))
        let onRing = try MonitorConfiguration(
            of: .bloodOxygen, limits: [.value: AlertLimits(isEnabled: true, lower: 88, upper: 100)])
        try AgentRig.synced(
            0..<2, capabilities: Capabilities([.bloodOxygen: [.history, .alert]]),
            content: .init(monitors: [.bloodOxygen: onRing])
        ) { rig, agent in
            var patch = MonitorPatch()
            patch.changes[lower] = .number(90)
            let answer = try await rig.ask(.configure(patch, ifVersion: nil, adopts: false), "c", of: agent)
            #expect(answer == Answer(.done, data: .version(2, pending: [])))
            #expect(rig.session?.content.monitors[.bloodOxygen]?.limits[.value]?.lower == 90)
            #expect(try await rig.ask(.fetch(metrics: [.bloodOxygen]), "f", of: agent).status == .done)
        }
    }

    @Test func `a change that the device took is done, also while it refuses an earlier one of another metric`() throws
    {
        let (stuck, taken) = (Self.changes(.heartRate), Self.changes(.stress))
        try AgentRig.synced(0..<2, capabilities: Self.capabilities, content: Self.content()) { rig, agent in
            rig.behave { call in
                if case .setMonitorConfiguration(let configuration) = call, configuration.metric == .heartRate {
                    .fail(DeviceError(.lowBattery, "Charge me."))
                } else {
                    .answer
                }
            }
            let refused = try await rig.ask(.configure(stuck, ifVersion: nil, adopts: false), "a", of: agent)
            #expect((refused.status, refused.code) == (.failed, .lowBattery))
            #expect(refused.message == "heart_rate: Charge me.")
            let done = try await rig.ask(.configure(taken, ifVersion: nil, adopts: false), "b", of: agent)
            #expect(done == Answer(.done, data: .version(3, pending: Set(stuck.changes.keys))))
            var both = Self.changes(.bloodPressure)
            both.changes[MonitorSetting(.heartRate, .scheduleInterval)] = .number(45)
            let failed = try await rig.ask(.configure(both, ifVersion: nil, adopts: false), "c", of: agent)
            #expect((failed.status, failed.message) == (.failed, "heart_rate: Charge me."))
        }
    }
}
