import GatewayTesting
import TestSupport
import Vitals

/// The records of one device: of every metric over three days, many corrected with the device's own revisions, some
/// corrected back.
struct ShuffledRecords: Sendable {
    /// The versions of each record, in the order of their revisions.
    let versions: [[Sample]]

    /// Records that start within a range; each ends before it does.
    init(in range: Range<Timestamp>, count: Int, random: inout SplitMix64) {
        var keys: Set<SampleID> = []
        var versions: [[Sample]] = []
        while versions.count < count {
            guard let metric = Metric.synchronised.randomElement(using: &random) else { continue }
            let length = metric.isInterval ? Int.random(in: 10...300, using: &random) : 0
            let minutes = Int((range.upperBound - range.lowerBound).inMilliseconds / 60_000) - length
            // Few distinct starts, so that records are close together, with manual ones beside automatic ones.
            let start = range.lowerBound + .minutes(Int.random(in: 0..<minutes, using: &random) / 7 * 7)
            var record = Sample(
                metric: metric, start: start, end: start + .minutes(length),
                isUserInitiated: Int.random(in: 0..<5, using: &random) == 0,
                reading: Self.reading(metric, from: start, minutes: length, &random))
            guard keys.insert(SampleID(device: Self.device, sample: record)).inserted else { continue }
            guard Bool.random(using: &random) else {
                versions.append([record])
                continue
            }
            var revision = 0
            versions.append(
                (0..<Int.random(in: 1...4, using: &random)).map { number in
                    revision += Int.random(in: 1...3, using: &random)
                    record.revision = revision
                    record.kind = Sample.Kind.allCases.randomElement(using: &random) ?? .normal
                    // A revision may keep the reading and change only the kind.
                    if number % 2 == 1 || Bool.random(using: &random) {
                        record.reading = Self.reading(metric, from: start, minutes: length, &random)
                    }
                    return record
                })
            if versions[versions.count - 1].count > 2, Bool.random(using: &random) {
                let first = versions[versions.count - 1][0]
                let place = versions[versions.count - 1].count - 1
                versions[versions.count - 1][place].reading = first.reading
                versions[versions.count - 1][place].kind = first.kind
            }
        }
        self.versions = versions
    }

    /// A device name used only for computing ids.
    private static let device = DeviceID("device") ?? .shuffled

    /// The expected final state, as stored, in the order of metrics and keys: the last version of each record that no
    /// other one replaces.
    func final(of device: DeviceID) -> [StoredSample] {
        let last = versions.compactMap(\.last)
        return last.filter { record in !last.contains { Self.replaces($0, record) } }.map {
            StoredSample(
                sample: $0, of: device, revision: $0.revision ?? 1,
                receivedAt: Timestamp(milliseconds: 0)
            ).withoutReceipt
        }
    }

    /// Whether a record replaces another one.
    private static func replaces(_ record: Sample, _ other: Sample) -> Bool {
        guard record.metric == other.metric, record.metric.isInterval else { return false }
        let overlap = record.start < other.end && other.start < record.end && record.metric.shape != .count
        guard overlap || record.start == other.start else { return false }
        if record.end != other.end { return record.end > other.end }
        if record.start != other.start { return record.start < other.start }
        return record.isUserInitiated && !other.isUserInitiated
    }

    /// All versions in random order, each at least once and some repeated.
    func shuffled(_ random: inout SplitMix64) -> [Sample] {
        let all = versions.flatMap(\.self)
        return (all + all.filter { _ in Int.random(in: 0..<3, using: &random) == 0 }).shuffled(using: &random)
    }

    private static func reading(
        _ metric: Metric, from start: Timestamp, minutes: Int, _ random: inout SplitMix64
    ) -> Reading {
        let number = Double(Int.random(in: 60...80, using: &random))
        let part: Double? = Bool.random(using: &random) ? number * 1.5 : nil
        switch metric {
        // Through all zones of an exercise.
        case .heartRate: return .value(number * 4 - 180)
        case .temperature, .skinTemperature: return .value(36 + number / 100)
        case .bloodPressure: return .bloodPressure(BloodPressure(systolic: number + 50, diastolic: number, pulse: part))
        case .exerciseMinutes: return .count(Increment(count: min(Int(number), minutes)))
        case .standHours: return .count(Increment(count: min(Int(number), minutes / 60 + 1)))
        case _ where metric.shape == .count:
            return .count(Increment(count: Int(number), distance: part, energy: part))
        case .sleep:
            let middle = start + .minutes(Int.random(in: 1..<minutes, using: &random))
            return .sleep(
                Sleep(stages: [
                    Sleep.Stage(.light, from: start, to: middle),
                    Sleep.Stage(
                        Bool.random(using: &random) ? .deep : .awake, from: middle, to: start + .minutes(minutes)),
                ]))
        case .sport: return .sport(Sport(activity: "running", distance: part, energy: part))
        default: return .value(number)
        }
    }
}

extension DeviceID {
    fileprivate static var shuffled: DeviceID { preconditionFailure("the name above is an identifier") }
}
