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

    /// The steps of a day as the gateway summarises them.
    package func steps(of day: LocalDay, in calendar: LocalCalendar) async throws -> Int? {
        var accumulator = DailyAccumulator(metric: .steps, day: day)
        for stored in try await scratch.samples(of: device) where calendar.day(of: stored.sample.start) == day {
            accumulator.add(stored)
        }
        guard case .count(let total, _, _) = accumulator.summary.details else { return nil }
        return Int(total)
    }
}

extension [Sample] {
    /// The rule of the contract for steps, in its simplest form: a record counts unless one of an earlier source has a time in common with
    /// it, or one of its own source begins with it and ends later.
    package var countedOnce: [Sample] {
        func isBefore(_ a: Sample, _ b: Sample) -> Bool {
            guard let ours = a.origin else { return false }
            guard let theirs = b.origin else { return true }
            return ours.place != theirs.place ? ours.place < theirs.place : ours.name < theirs.name
        }
        return filter { sample in
            !contains { other in
                let begins = other.start == sample.start
                if other.origin?.name == sample.origin?.name { return begins && other.end > sample.end }
                let meets = begins || other.start < sample.end && sample.start < other.end
                return meets && isBefore(other, sample)
            }
        }
    }
}
