import StoreAPI
import Vitals

/// A store in memory of what an import needs.
actor MemoryStore: StatisticsStore {
    private var samples: [(device: DeviceID, stored: StoredSample)] = []
    private(set) var due: [DueStatistics] = []
    /// How often something was given up.
    private(set) var commits = 0

    func keepDueStatistics(_ isKept: Bool, at: Timestamp) async throws(StoreError) {}
    func dueStatistics() async throws(StoreError) -> [DueStatistics] { due }

    func setDue(
        _ hours: ClosedRange<Hour>?, isJoining: Bool, of entry: DueStatistics
    ) async throws(StoreError) -> Bool {
        commits += 1
        guard let place = due.firstIndex(where: { $0.isSame(as: entry) && $0.revision == entry.revision }) else {
            return false
        }
        if let hours {
            due[place].hours = hours
            due[place].isJoining = isJoining
        } else {
            due.remove(at: place)
        }
        return true
    }

    func splitDue(_ entry: DueStatistics, among sensors: [String]) async throws(StoreError) -> Bool {
        guard try await setDue(nil, isJoining: false, of: entry) else { return false }
        for sensor in sensors {
            var part = entry
            part.sensor = sensor
            widen(part)
        }
        return true
    }

    func history(
        of device: DeviceID, metric: Metric, starting range: Range<Timestamp>, after: SampleKey?, limit: Int
    ) async throws(StoreError) -> [StoredSample] {
        let all = samples.filter { owner, stored in
            owner == device && stored.sample.metric == metric && !stored.isWithdrawn
                && range.contains(stored.sample.start) && (after.map { $0 < SampleKey(stored.sample) } ?? true)
        }
        return all.prefix(limit).map(\.stored)
    }

    /// Withdraws the samples that begin at a moment, as a record in their place does.
    func withdraw(_ metric: Metric, _ start: Timestamp, at moment: Timestamp) {
        for place in samples.indices {
            let sample = samples[place].stored.sample
            guard sample.metric == metric, sample.start == start else { continue }
            samples[place].stored.isWithdrawn = true
            mark(sample, samples[place].device, at: moment)
        }
    }

    /// What a sensor shows: the count of a time.
    func count(from start: Timestamp, to end: Timestamp) -> Double {
        samples.map(\.stored).reduce(0) { sum, stored in
            let moment = DailySummary.decisiveMoment(of: stored.sample)
            return start <= moment && moment < end && !stored.isWithdrawn ? sum + (stored.sample.value ?? 0) : sum
        }
    }

    private func widen(_ entry: DueStatistics) {
        guard let place = due.firstIndex(where: { $0.isSame(as: entry) }) else { return due.append(entry) }
        let hours = due[place].hours
        let upper = due[place].isJoining ? entry.hours.upperBound : max(hours.upperBound, entry.hours.upperBound)
        due[place].hours = min(hours.lowerBound, entry.hours.lowerBound)...upper
        due[place].changedAt = entry.changedAt
        due[place].revision += 1
        due[place].isJoining = false
    }

    private func mark(_ sample: Sample, _ device: DeviceID, at moment: Timestamp) {
        let (hour, current) = (Hour(of: DailySummary.decisiveMoment(of: sample)), Hour(of: moment))
        guard hour < current else { return }
        let isNight = sample.metric.shape == .sleep
        let first = isNight ? hour.advanced(by: -24) : hour
        let last = isNight ? min(hour.advanced(by: 24), current.advanced(by: -1)) : hour
        widen(
            DueStatistics(device: device, metric: sample.metric, hours: first...last, changedAt: moment, revision: 1))
    }

    /// Adds samples that came late, and marks their hours, as the store does; one of a known key corrects it.
    func add(_ new: [Sample], of device: DeviceID = .band, at moment: Timestamp) {
        for sample in new {
            let id = SampleID(device: device, sample: sample)
            samples.removeAll { $0.device == device && $0.stored.id == id }
            samples.append((device, StoredSample(sample: sample, id: id, revision: 1, receivedAt: moment)))
            mark(sample, device, at: moment)
        }
        samples.sort { SampleKey($0.stored.sample) < SampleKey($1.stored.sample) }
    }
}

extension DueStatistics {
    fileprivate func isSame(as other: DueStatistics) -> Bool {
        device == other.device && metric == other.metric && sensor == other.sensor
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
