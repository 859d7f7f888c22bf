import GatewayKit
import GatewayTesting
import JSON
import TestSupport
import Testing
import Vitals

@Suite(.timeLimit(.minutes(1))) struct LinkMonitorTests {
    private static let schedule = MonitorSchedule(isEnabled: true, start: 480, end: 1440, interval: 10)
    private static let wireSchedule: JSONValue = ["enabled": true, "start": 480, "end": 1440, "interval_min": 10]

    private static let cases: [(metric: Metric, configuration: MonitorConfiguration, wire: JSONValue)] = [
        (
            .heartRate,
            MonitorConfiguration.fixture(
                of: .heartRate, schedule: schedule,
                limits: [
                    .resting: AlertLimits(isEnabled: true, lower: 40, upper: 100),
                    .exercise: AlertLimits(isEnabled: false, lower: 60, upper: 180),
                ], exerciseMaximum: 190),
            [
                "schedule": wireSchedule, "resting_alert": ["enabled": true, "lower": 40, "upper": 100],
                "exercise_alert": ["enabled": false, "lower": 60, "upper": 180], "exercise_max_bpm": 190,
            ]
        ),
        (
            .bloodPressure,
            MonitorConfiguration.fixture(
                of: .bloodPressure, schedule: schedule,
                limits: [
                    .systolic: AlertLimits(isEnabled: true, lower: 90, upper: 140),
                    .diastolic: AlertLimits(isEnabled: true, lower: 60, upper: 90),
                ]),
            [
                "schedule": wireSchedule,
                "alert": [
                    "enabled": true, "systolic_lower": 90, "systolic_upper": 140, "diastolic_lower": 60,
                    "diastolic_upper": 90,
                ],
            ]
        ),
        (
            .temperature,
            MonitorConfiguration.fixture(
                of: .temperature, limits: [.value: AlertLimits(isEnabled: true, lower: 35.5, upper: 37.9)]),
            ["alert": ["enabled": true, "lower": 35.5, "upper": 37.9]]
        ),
        (.stress, MonitorConfiguration.fixture(of: .stress, schedule: schedule), ["schedule": wireSchedule]),
    ]

    @Test(arguments: 0..<cases.count)
    func `reads and writes a metric's configuration`(number: Int) async throws {
        let (metric, configuration, wire) = Self.cases[number]
        let name = JSONValue.string(metric.rawValue)
        try await withLink { peer, session in
            async let written: Void = session.setMonitorConfiguration(configuration)
            try await peer.answer("monitor/write", params: ["metric": name, "configuration": wire])
            try await written
            async let read = session.monitorConfiguration(of: metric)
            try await peer.answer("monitor/read", params: ["metric": name], with: #"{"configuration":\#(wire)}"#)
            #expect(try await read == configuration)
        }
    }

    @Test func `takes parts that are null or missing for parts that the device does not have`() async throws {
        try await withLink { peer, session in
            async let read = session.monitorConfiguration(of: .heartRate)
            try await peer.answer(
                "monitor/read",
                with: #"{"configuration":{"schedule":null,"alert":{"other":1},"exercise_max_bpm":null}}"#)
            #expect(try await read == MonitorConfiguration.fixture(of: .heartRate))
        }
    }

    @Test(arguments: [
        "{}", #"{"configuration":7}"#, #"{"configuration":{"schedule":{"enabled":true,"start":480,"end":1440}}}"#,
        #"{"configuration":{"schedule":{"enabled":true,"start":-5,"end":1440,"interval_min":5}}}"#,
        #"{"configuration":{"schedule":{"enabled":1,"start":0,"end":1440,"interval_min":5}}}"#,
        #"{"configuration":{"resting_alert":{"enabled":true,"lower":"40","upper":100}}}"#,
        #"{"configuration":{"exercise_alert":[]}}"#, #"{"configuration":{"exercise_max_bpm":1e9}}"#,
    ])
    func `refuses a configuration that is none`(answer: String) async throws {
        try await withLink { peer, session in
            async let read = failure { try await session.monitorConfiguration(of: .heartRate) }
            try await peer.answer("monitor/read", with: answer)
            let error = await read
            #expect(error?.code == .failure)
        }
    }
}
