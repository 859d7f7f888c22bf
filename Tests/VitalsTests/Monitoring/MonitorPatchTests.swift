import Testing
import Vitals

@Suite struct MonitorPatchTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var changes: [String: MonitorSetting.Value]
        /// Paths of the errors.
        var issues: [String] = []
        var testDescription: String { changes.keys.sorted().joined(separator: ", ") + " \(issues)" }

        init(_ changes: [String: MonitorSetting.Value], _ issues: String...) {
            self.changes = changes
            self.issues = issues
        }
    }

    private func patch(_ changes: [String: MonitorSetting.Value]) throws -> MonitorPatch {
        MonitorPatch(
            Dictionary(uniqueKeysWithValues: try changes.map { (try setting($0.key), $0.value) }))
    }

    /// The errors of a patch, empty if it was applied.
    private func issues(
        _ changes: [String: MonitorSetting.Value], settings: MonitorSettings = AbleDevice.settings,
        capabilities: Capabilities? = AbleDevice.capabilities
    ) throws -> [Violation] {
        let patch = try patch(changes)
        do {
            let result = try patch.applied(to: settings, capabilities: capabilities)
            #expect(result.values.merging(settings.values.merging(patch.changes) { $1 }) { $1 } == result.values)
            return []
        } catch {
            return error.list
        }
    }

    static let times: [Case] = [
        Case(["stress.schedule.enabled": .toggle(true)]),
        Case(["stress.schedule.start": .number(0), "stress.schedule.end": .number(1440)]),
        Case(["stress.schedule.start": .number(1199)]),
        Case(["stress.schedule.start": .number(1200)], "stress.schedule.end"),
        Case(["stress.schedule.end": .number(480)], "stress.schedule.end"),
        Case(["stress.schedule.end": .number(479)], "stress.schedule.end"),
        Case(["stress.schedule.start": .number(-1)], "stress.schedule.start"),
        Case(["stress.schedule.end": .number(1441)], "stress.schedule.end"),
        Case(["stress.schedule.start": .number(480.5)], "stress.schedule.start"),
        Case(
            ["stress.schedule.start": .number(1500), "stress.schedule.end": .number(480)],
            "stress.schedule.start", "stress.schedule.end"),
        Case(["stress.schedule.interval_min": .number(5)]), Case(["stress.schedule.interval_min": .number(1440)]),
        Case(["stress.schedule.interval_min": .number(0)], "stress.schedule.interval_min"),
        Case(["stress.schedule.interval_min": .number(7)], "stress.schedule.interval_min"),
        Case(["stress.schedule.interval_min": .number(1445)], "stress.schedule.interval_min"),
        Case(["stress.schedule.interval_min": .number(.nan)], "stress.schedule.interval_min"),
        Case(["stress.schedule.interval_min": .toggle(true)], "stress.schedule.interval_min"),
        Case(["stress.schedule.enabled": .number(1)], "stress.schedule.enabled"),
    ]

    @Test(arguments: times)
    func `sets schedules within a day, in fives of minutes`(_ example: Case) throws {
        #expect(try issues(example.changes).map(\.path) == example.issues)
    }

    static let limits: [Case] = [
        Case(["heart_rate.resting_alert.lower": .number(20), "heart_rate.resting_alert.upper": .number(300)]),
        Case(["heart_rate.resting_alert.lower": .number(19)], "heart_rate.resting_alert.lower"),
        Case(["heart_rate.resting_alert.upper": .number(301)], "heart_rate.resting_alert.upper"),
        Case(["heart_rate.resting_alert.upper": .number(99.5)], "heart_rate.resting_alert.upper"),
        Case(["heart_rate.resting_alert.lower": .number(100)], "heart_rate.resting_alert.upper"),
        Case(["heart_rate.exercise_alert.upper": .number(60)], "heart_rate.exercise_alert.upper"),
        Case(["heart_rate.exercise_alert.lower": .number(200)], "heart_rate.exercise_alert.upper"),
        Case(["heart_rate.exercise_max_bpm": .number(100)]), Case(["heart_rate.exercise_max_bpm": .number(220)]),
        Case(["heart_rate.exercise_max_bpm": .number(99)], "heart_rate.exercise_max_bpm"),
        Case(["heart_rate.exercise_max_bpm": .number(221)], "heart_rate.exercise_max_bpm"),
        Case(["blood_pressure.alert.systolic_upper": .number(90)], "blood_pressure.alert.systolic_upper"),
        Case(["blood_pressure.alert.systolic_lower": .number(150)], "blood_pressure.alert.systolic_upper"),
        Case(["blood_pressure.alert.diastolic_lower": .number(90)], "blood_pressure.alert.diastolic_upper"),
        Case(["blood_pressure.alert.diastolic_upper": .number(301)], "blood_pressure.alert.diastolic_upper"),
        Case(["blood_pressure.alert.systolic_lower": .number(19)], "blood_pressure.alert.systolic_lower"),
        Case(["blood_oxygen.alert.lower": .number(0)]),
        Case(["blood_oxygen.alert.upper": .number(101)], "blood_oxygen.alert.upper"),
        Case(["stress.alert.lower": .number(-1)], "stress.alert.lower"),
        Case(["stress.alert.upper": .number(100)]),
        Case(["temperature.alert.upper": .number(38.5)]),
        Case(["temperature.alert.upper": .number(38.55)], "temperature.alert.upper"),
        Case(["temperature.alert.lower": .number(24.9)], "temperature.alert.lower"),
        Case(["temperature.alert.upper": .number(36)], "temperature.alert.upper"),
        Case(["temperature.alert.upper": .number(45.1)], "temperature.alert.upper"),
        Case(["temperature.alert.enabled": .number(0)], "temperature.alert.enabled"),
        Case(["blood_oxygen.alert.lower": .toggle(false)], "blood_oxygen.alert.lower"),
    ]

    @Test(arguments: limits)
    func `sets limits within the metric's range, the lower below the upper`(_ example: Case) throws {
        #expect(try issues(example.changes).map(\.path) == example.issues)
    }

    @Test func `reports every error at once, and what would be right`() throws {
        let violations = try issues(
            [
                "heart_rate.resting_alert.lower": .number(400), "heart_rate.schedule.interval_min": .number(7),
                "temperature.alert.upper": .number(36.66), "stress.schedule.enabled": .number(1),
                "blood_oxygen.alert.lower": .number(96),
            ],
            capabilities: Capabilities([
                .heartRate: [.monitor, .scheduleInterval], .temperature: .monitor, .stress: .measure,
            ]))
        #expect(
            violations == [
                Violation(
                    path: "heart_rate.schedule.interval_min", message: "must be a multiple of 5 from 5 to 1440 min"),
                Violation(
                    path: "heart_rate.resting_alert.lower", message: "must be a whole number from 20 to 300 bpm"),
                Violation(
                    path: "heart_rate.resting_alert.upper",
                    message: "must be above heart_rate.resting_alert.lower, which is 400"),
                Violation(
                    path: "blood_oxygen.alert.lower", code: .unsupported,
                    message: "needs a device that has blood_oxygen; this one has not"),
                Violation(path: "stress.schedule.enabled", message: "must be true or false"),
                Violation(
                    path: "temperature.alert.upper",
                    message: "must be a number with at most one decimal from 25 to 45 °C"),
            ])
    }

    @Test func `takes the whole configuration as it was published, whatever the device has made of it`() throws {
        var odd = AbleDevice.settings
        odd[.stress, .scheduleInterval] = .number(7)
        odd[.stress, .scheduleEnd] = .number(0)
        let patch = MonitorPatch(odd.values)
        #expect(try patch.applied(to: odd, capabilities: Capabilities()) == odd)
        // Other settings of the same metric can still change, but not the pair with the odd value.
        #expect(try issues(["stress.alert.upper": .number(60)], settings: odd) == [])
        #expect(
            try issues(["stress.schedule.start": .number(60)], settings: odd).map(\.path) == ["stress.schedule.end"])
    }

    @Test func `refuses nothing as unsupported while the capabilities are not known`() throws {
        #expect(
            try issues(["stress.alert.upper": .number(60)], settings: MonitorSettings(), capabilities: nil) == [])
        #expect(
            try issues(["stress.alert.upper": .number(600)], settings: MonitorSettings(), capabilities: nil)
                .map(\.code) == [.invalid])
        #expect(
            try issues(["stress.alert.upper": .number(60)], settings: MonitorSettings(), capabilities: Capabilities())
                .map(\.code) == [.unsupported])
    }

    @Test func `refuses a setting that the metric does not have, and the removal of one`() {
        let strange = MonitorSetting(.stress, .upper(.resting))
        #expect(throws: Violations([Violation(path: strange.path, message: "is no setting of stress")])) {
            try MonitorPatch([strange: .number(60)]).applied(to: AbleDevice.settings, capabilities: nil)
        }
        var removed = AbleDevice.settings
        let upper = MonitorSetting(.stress, .upper(.value))
        removed[.stress, .upper(.value)] = nil
        #expect(removed.violations(capabilities: nil, changed: [upper]).map(\.message) == ["must not be removed"])
    }

    @Test(arguments: Array(1...20) as [UInt64])
    func `makes any settings valid ones, or leaves them alone`(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        let all = Set(MonitorSetting.all)
        #expect(AbleDevice.settings.violations(capabilities: AbleDevice.capabilities, changed: all) == [])
        var settings = AbleDevice.settings
        var accepted = 0
        for _ in 0..<300 {
            var patch = MonitorPatch()
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                guard let setting = MonitorSetting.all.randomElement(using: &generator) else { continue }
                patch.changes[setting] = Self.value(for: setting, using: &generator)
            }
            guard let result = try? patch.applied(to: settings, capabilities: AbleDevice.capabilities) else { continue }
            accepted += 1
            settings = result
            #expect(settings.violations(capabilities: AbleDevice.capabilities, changed: all) == [])
            #expect(patch.changes.allSatisfy { settings.values[$0.key] == $0.value })
        }
        #expect((10..<300).contains(accepted))
    }

    /// A value that is usually valid for a setting, sometimes not.
    private static func value(
        for setting: MonitorSetting, using generator: inout SplitMix64
    ) -> MonitorSetting.Value {
        let isOdd = Int.random(in: 0..<20, using: &generator) == 0
        guard let range = setting.range, !isOdd else {
            return isOdd ? .number(.random(in: -100...2000, using: &generator)) : .toggle(.random(using: &generator))
        }
        let steps = Int(range.bounds.lowerBound / range.step) - 1...Int(range.bounds.upperBound / range.step) + 1
        return .number(Double(Int.random(in: steps, using: &generator)) * range.step)
    }
}
