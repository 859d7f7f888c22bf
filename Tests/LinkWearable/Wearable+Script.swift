import Conformance
import GatewayKit
import TestSupport
import Vitals

extension Wearable {
    /// The events that a wearable sends on a test's demand: a live sample of each metric, with every part that a sample
    /// can have, and one event of each other kind.
    static let events: [DeviceEvent] =
        [.wear(isWorn: false), .wear(isWorn: true)]
        + samples.map { .samples([$0], receipts: []) }
        + [.samples(samples.reversed(), receipts: [])]
        + [.battery(percent: 12.5, isCharging: true), .battery(percent: 12, isCharging: nil), .signal(strength: -71)]
        + AlertRule.all.map { .alert(DeviceAlert(rule: $0, edge: .raised, value: 36.6, at: noon)) }
        + [.alert(DeviceAlert(rule: AlertRule(.stress, .high), edge: .cleared, value: nil, at: noon))]

    /// Live samples with receipts.
    static let safeSamples: [DriverConformance.SafeSample] = (1...4).map { minute in
        DriverConformance.SafeSample(
            "safe-\(minute)",
            Sample(
                metric: .bloodPressure, start: noon + .minutes(minute), isUserInitiated: true, user: minute,
                reading: .bloodPressure(BloodPressure(systolic: 120.5, diastolic: 80, pulse: 61))))
    }

    /// The event with the samples that have receipts.
    static var safeEvent: DeviceEvent {
        .samples(safeSamples.map(\.sample), receipts: safeSamples.map { SampleReceipt($0.name) })
    }

    private static let samples: [Sample] = {
        let hour = noon + .hours(1)
        let sleep = Sleep(
            stages: Sleep.Stage.Depth.allCases.enumerated().map { index, depth in
                .init(depth, from: noon + .minutes(index * 10), to: noon + .minutes(index * 10 + 10))
            })
        let run = Sport(
            activity: "running", distance: 5_012.5, energy: 401.25, steps: 5_400, minimumHeartRate: 92,
            averageHeartRate: 141.5, maximumHeartRate: 176)
        return [
            Sample(
                metric: .heartRate, start: noon, kind: .maximum, isExercise: true, revision: 2, reading: .value(171)),
            Sample(metric: .heartRate, start: noon, kind: .minimum, isExercise: false, reading: .value(48.5)),
            Sample(metric: .restingHeartRate, start: noon, kind: .resting, reading: .value(52)),
            Sample(
                metric: .bloodPressure, start: noon, end: noon + .seconds(40), isUserInitiated: true, user: 2,
                reading: .bloodPressure(BloodPressure(systolic: 121, diastolic: 79, pulse: 64))),
            Sample(
                metric: .bloodPressure, start: noon,
                reading: .bloodPressure(BloodPressure(systolic: 119.5, diastolic: 81))),
            Sample(metric: .bloodOxygen, start: noon, reading: .value(97)),
            Sample(metric: .stress, start: noon, reading: .value(0)),
            Sample(metric: .temperature, start: noon, reading: .value(36.65)),
            Sample(
                metric: .steps, start: noon, end: hour,
                reading: .count(Increment(count: 1_203, distance: 900.5, energy: 40.25))),
            Sample(metric: .steps, start: noon, end: hour, reading: .count(Increment(count: 0))),
            Sample(metric: .sleep, start: noon, end: hour, reading: .sleep(sleep)),
            Sample(metric: .sport, start: noon, end: hour, reading: .sport(run)),
            Sample(metric: .sport, start: noon, end: hour, reading: .sport(Sport(activity: "yoga"))),
        ]
    }()
}
