import StoreAPI
import Vitals

/// A store in memory of what an import needs.
actor MemoryStore: StatisticsStore {
    private var samples: [StoredSample] = []
    private(set) var due: [DueStatistics] = []

    func keepDueStatistics(_ isKept: Bool, at: Timestamp) async throws(StoreError) {}
    func dueStatistics() async throws(StoreError) -> [DueStatistics] { due }

    func setDue(_ hours: ClosedRange<Hour>?, of entry: DueStatistics) async throws(StoreError) -> Bool {
        guard let place = due.firstIndex(where: { $0.metric == entry.metric && $0.revision == entry.revision }) else {
            return false
        }
        if let hours { due[place].hours = hours } else { due.remove(at: place) }
        return true
    }

    func history(
        of device: DeviceID, metric: Metric, starting range: Range<Timestamp>, after: SampleKey?, limit: Int
    ) async throws(StoreError) -> [StoredSample] {
        let all = samples.filter { stored in
            stored.sample.metric == metric && range.contains(stored.sample.start)
                && (after.map { $0 < SampleKey(stored.sample) } ?? true)
        }
        return Array(all.prefix(limit))
    }

    /// Adds samples that came late, and marks their hours, as the store does; one of a known key corrects it.
    func add(_ new: [Sample], at moment: Timestamp) {
        for sample in new {
            let id = SampleID(device: .band, sample: sample)
            samples.removeAll { $0.id == id }
            samples.append(StoredSample(sample: sample, id: id, revision: 1, receivedAt: moment))
            let hour = Hour(of: DailySummary.decisiveMoment(of: sample))
            guard hour < Hour(of: moment) else { continue }
            if let place = due.firstIndex(where: { $0.metric == sample.metric }) {
                let hours = due[place].hours
                due[place].hours = min(hours.lowerBound, hour)...max(hours.upperBound, hour)
                due[place].changedAt = moment
                due[place].revision += 1
            } else {
                due.append(
                    DueStatistics(
                        device: .band, metric: sample.metric, hours: hour...hour, changedAt: moment, revision: 1))
            }
        }
        samples.sort { SampleKey($0.sample) < SampleKey($1.sample) }
    }
}

extension DeviceID {
    static let band = DeviceID("band") ?? .other
    private static var other: DeviceID { preconditionFailure("the name above is valid") }
}

/// Steps in a quarter of an hour.
func steps(_ count: Int, _ start: Timestamp) -> Sample {
    Sample(metric: .steps, start: start, end: start + .minutes(15), reading: .steps(Steps(count: count)))
}

/// A heart rate.
func beat(_ value: Double, _ start: Timestamp, kind: Sample.Kind = .normal) -> Sample {
    Sample(metric: .heartRate, start: start, kind: kind, reading: .value(value))
}

/// A moment from its text.
func time(_ text: String) -> Timestamp {
    guard let time = Timestamp(rfc3339: text) else { preconditionFailure("\(text) is no time") }
    return time
}
