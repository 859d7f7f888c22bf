import Synchronization
package import Vitals

/// A store with the samples of one device, and a consumer of them that does what the contract says: it keeps the highest revision of each
/// `id`, and deletes what is withdrawn.
package final class ConsumedStore: Sendable {
    /// The device.
    package let device: DeviceID
    private let scratch: ScratchStore
    private let overlaps: OverlapRule
    private let received = Mutex<[SampleID: StoredSample]>([:])

    /// A store of a device whose records exclude each other by this rule.
    package init(_ overlaps: OverlapRule, device: DeviceID) throws {
        self.device = device
        self.overlaps = overlaps
        scratch = try ScratchStore()
    }

    /// Stores samples. Returns what each of them is.
    @discardableResult
    package func ingest(_ samples: [Sample]) async throws -> [SampleOutcome.Novelty] {
        let published = Mutex<[StoredSample]>([])
        let ingest = Ingest(
            device: device, samples: samples, overlaps: overlaps, receivedAt: Timestamp(seconds: 1_800_000_000)
        ) { outcomes in
            // The last decision counts.
            published.withLock { $0 = outcomes.filter { $0.novelty != .known }.map(\.stored) }
            return IngestOutcome()
        }
        let result = try await scratch.base.ingest(ingest)
        let news = published.withLock { $0 }
        received.withLock { received in
            for stored in news where stored.revision >= received[stored.id]?.revision ?? 0 {
                received[stored.id] = stored
            }
        }
        return result.novelties
    }

    /// What the consumer has.
    package var held: [SampleID: Sample] {
        received.withLock { $0.filter { !$0.value.isWithdrawn }.mapValues(\.sample) }
    }

    /// What the consumer has of a metric, in order of time.
    package func held(_ metric: Metric) -> [Sample] {
        held.values.filter { $0.metric == metric }.sorted { SampleKey($0) < SampleKey($1) }
    }

    /// What counts by the store, in order of time.
    package func stored(_ metric: Metric) async throws -> [Sample] {
        try await scratch.samples(of: device).map(\.sample).filter { $0.metric == metric }
    }

    /// A day as the gateway summarises it.
    package func day(
        _ day: LocalDay, of metric: Metric, in calendar: LocalCalendar
    ) async throws -> DailySummary.Details {
        let own = try await scratch.samples(of: device).filter { DailySummary.day(of: $0.sample, in: calendar) == day }
        return DailySummary(metric: metric, day: day, samples: own).details
    }

    /// The total of a day's counts.
    package func total(_ metric: Metric, of day: LocalDay, in calendar: LocalCalendar) async throws -> Double? {
        guard case .count(let total, _, _) = try await self.day(day, of: metric, in: calendar) else { return nil }
        return total
    }
}

extension [Sample] {
    /// The rule of the contract for counts, in its simplest form: of two sources with the same times the earlier one has the record. It
    /// counts unless one of its own source begins with it and is the better one, or one of an earlier source that has no better one
    /// itself has a time in common with it. Distances of two activities are two counts.
    package var countedOnce: [Sample] {
        func isBefore(_ a: Sample, _ b: Sample) -> Bool {
            guard let ours = a.origin else { return false }
            guard let theirs = b.origin else { return true }
            return ours.place != theirs.place ? ours.place < theirs.place : ours.name < theirs.name
        }
        func mayBeOne(_ a: Sample, _ b: Sample) -> Bool {
            let (ours, theirs) = (a.qualifiers[.activity], b.qualifiers[.activity])
            return a.metric == b.metric && (ours == nil || theirs == nil || ours == theirs)
        }
        func isBetter(_ a: Sample, _ b: Sample) -> Bool {
            guard a.origin?.name == b.origin?.name, a.start == b.start, mayBeOne(a, b) else { return false }
            if a.end != b.end { return a.end > b.end }
            return a.qualifiers[.activity] != nil && b.qualifiers[.activity] == nil
        }
        let placed = filter { sample in
            !contains { other in
                let isSame = other.start == sample.start && other.end == sample.end && other.metric == sample.metric
                return isSame && other.qualifiers[.activity] == sample.qualifiers[.activity] && isBefore(other, sample)
            }
        }
        let newest = placed.filter { sample in !placed.contains { isBetter($0, sample) } }
        return newest.filter { sample in
            !newest.contains { other in
                let meets = other.start == sample.start || other.start < sample.end && sample.start < other.end
                return meets && mayBeOne(other, sample) && isBefore(other, sample)
            }
        }
    }
}
