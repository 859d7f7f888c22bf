import Contract
import JSON
import MQTT
import Testing
import Vitals

@Suite struct ConfigurationPatchTests {
    @Test func `reads any part of a configuration`() {
        let incoming = parse(
            "ring-1/config/set",
            #"""
            {"id":"c","if_version":17,"adopt":true,
             "heart_rate":{"schedule":{"enabled":true,"start":"08:00","end":"00:00","interval_min":10},
               "resting_alert":{"upper":100.0},"exercise_max_bpm":190},
             "blood_pressure":{"alert":{"systolic_lower":90}},"stress":{},"temperature":{"alert":{"upper":38.5}}}
            """#)
        let patch = MonitorPatch([
            MonitorSetting(.heartRate, .scheduleEnabled): .toggle(true),
            MonitorSetting(.heartRate, .scheduleStart): .number(480),
            MonitorSetting(.heartRate, .scheduleEnd): .number(1440),
            MonitorSetting(.heartRate, .scheduleInterval): .number(10),
            MonitorSetting(.heartRate, .upper(.resting)): .number(100),
            MonitorSetting(.heartRate, .exerciseMaximum): .number(190),
            MonitorSetting(.bloodPressure, .lower(.systolic)): .number(90),
            MonitorSetting(.temperature, .upper(.value)): .number(38.5),
        ])
        #expect(incoming.deviceCommand == .configure(patch, ifVersion: 17, adopts: true))
        #expect(incoming.envelope?.command == "config/set")
        #expect(incoming.envelope?.id == "c")
    }

    @Test(arguments: [("08:00", 480.0), ("08:00:00", 480), ("07:05:59", 425), ("24:00", 1440), ("00:00", 0)])
    func `takes times of day with and without seconds`(text: String, minutes: Double) {
        let start = parse("ring-1/config/set", #"{"stress":{"schedule":{"start":"\#(text)"}}}"#)
        #expect(start.patch?.changes == [MonitorSetting(.stress, .scheduleStart): .number(minutes)])
    }

    @Test(arguments: ["00:00", "00:00:00", "24:00"])
    func `takes midnight as an end for the day's end`(text: String) {
        let end = parse("ring-1/config/set", #"{"stress":{"schedule":{"end":"\#(text)"}}}"#)
        #expect(end.patch?.changes == [MonitorSetting(.stress, .scheduleEnd): .number(1440)])
    }

    /// Patches, and the paths of their errors.
    static let issues: [(payload: String, paths: [String])] = [
        (#"{"heart_rate":null}"#, ["heart_rate"]),
        (#"{"heart_rate":{"schedule":null}}"#, ["heart_rate.schedule"]),
        (#"{"heart_rate":{"schedule":{"start":null}}}"#, ["heart_rate.schedule.start"]),
        (#"{"heart_rate":5,"stress":[]}"#, ["heart_rate", "stress"]),
        (#"{"heart_rate":{"schedule":true}}"#, ["heart_rate.schedule"]),
        (
            #"{"heart_rate":{"schedule":{"enabled":"on","start":480,"end":"25:00","interval_min":"10"}}}"#,
            [
                "heart_rate.schedule.enabled", "heart_rate.schedule.start", "heart_rate.schedule.end",
                "heart_rate.schedule.interval_min",
            ]
        ),
        (#"{"heart_rate":{"alert":{"upper":1}},"pulse":{}}"#, ["heart_rate.alert", "pulse"]),
        (#"{"stress":{"alert":{"systolic_upper":1,"upper":50}}}"#, ["stress.alert.systolic_upper"]),
        (#"{"if_version":null,"adopt":null}"#, ["if_version", "adopt"]),
        (#"{"if_version":-1,"adopt":"yes"}"#, ["if_version", "adopt"]),
        (#"{"schema":"vitals2mqtt.config/2"}"#, ["schema"]),
        (
            #"{"stress":{"schedule":{"enabled":1,"interval_min":7},"alert":{"lower":60,"upper":50}}}"#,
            ["stress.schedule.enabled", "stress.schedule.interval_min", "stress.alert.upper"]
        ),
    ]

    @Test(arguments: issues.indices)
    func `names every error at once, those of type and those of range`(index: Int) {
        let (payload, paths) = Self.issues[index]
        let incoming = parse("ring-1/config/set", payload)
        #expect(incoming.answer?.code == .invalid)
        #expect(incoming.paths == paths)
        #expect(incoming.republishesConfig)
    }

    @Test func `leaves to the device's twin what only breaks a range`() {
        let incoming = parse("ring-1/config/set", #"{"stress":{"schedule":{"interval_min":7}}}"#)
        #expect(incoming.patch?.changes == [MonitorSetting(.stress, .scheduleInterval): .number(7)])
    }

    @Test(arguments: [UInt64](0..<200))
    func `takes a published configuration back as it was`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var values: [MonitorSetting: MonitorSetting.Value] = [:]
        let metrics = Metric.monitored.filter { _ in Bool.random(using: &random) }
        for setting in MonitorSetting.all where metrics.contains(setting.metric) {
            switch setting.range {
            case nil: values[setting] = .toggle(.random(using: &random))
            case let range?:
                let steps = Int(range.bounds.lowerBound / range.step)...Int(range.bounds.upperBound / range.step)
                let number = Double(Int.random(in: steps, using: &random)) * range.step
                // An end of 00:00 is read as 24:00, so no schedule has it.
                guard setting.field != .scheduleEnd || number > 0 else { continue }
                values[setting] = .number(setting.field.kind == .limit ? (number * 10).rounded() / 10 : number)
            }
        }
        let settings = MonitorSettings(values)
        let message = Examples.encoder.config(
            TwinState(desired: settings, version: 3, updatedAt: Examples.now), of: Examples.device)
        let incoming = Examples.parser.parse(
            topic: message.topic + "/set", payload: message.payload, isRetained: false, receivedAt: Examples.now)
        #expect(incoming.deviceCommand == .configure(MonitorPatch(settings.values), ifVersion: nil, adopts: false))
    }
}
