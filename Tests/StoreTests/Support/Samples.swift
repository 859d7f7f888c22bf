import Vitals

extension DeviceID {
    static let band = DeviceID("band-1") ?? .other
    static let ring = DeviceID("ring-1") ?? .other
    private static var other: DeviceID { preconditionFailure("the names above are valid") }
}

/// The first moment of the tests' samples, 2026-11-18.
let dawn = Timestamp(seconds: 1_794_960_000)

/// A heart rate `second` seconds after `dawn`.
func beat(_ second: Int, _ value: Double = 60, revision: Int? = nil, lasting: Int = 0) -> Sample {
    let start = dawn + .seconds(second)
    return Sample(
        metric: .heartRate, start: start, end: start + .seconds(lasting), revision: revision, reading: .value(value))
}

extension Ingest {
    /// An ingest that turns its new and corrected samples into facts, one for each metric and 200 samples.
    init(
        _ device: DeviceID, _ samples: [Sample], at moment: Timestamp = dawn + .hours(1), lane: Lane = .live,
        cursors: [Metric: Timestamp] = [:], also: @escaping @Sendable (inout IngestOutcome) -> Void = { _ in }
    ) {
        self.init(device: device, samples: samples, receivedAt: moment, cursors: cursors) { outcomes in
            var decision = IngestOutcome()
            for metric in Metric.allCases {
                let fresh = outcomes.filter { $0.novelty != .known && $0.stored.sample.metric == metric }
                for first in stride(from: 0, to: fresh.count, by: Fact.Measurement.maximumSamples) {
                    let part = fresh[first..<min(first + Fact.Measurement.maximumSamples, fresh.count)]
                    let measurement = Fact.Measurement(
                        metric: metric, source: lane == .history ? .sync : .live, isHistorical: lane == .history,
                        user: nil, samples: part.map(\.stored))
                    decision.facts.append((lane, .measurement(measurement)))
                }
            }
            also(&decision)
            return decision
        }
    }
}

extension DeviceStore {
    /// All samples of a metric.
    func all(_ metric: Metric = .heartRate, of device: DeviceID = .band) async throws -> [StoredSample] {
        try await samples(
            of: device, metric: metric, starting: Timestamp(milliseconds: 0)..<Timestamp(seconds: 4_000_000_000),
            after: nil, limit: 100_000)
    }
}

extension Fact {
    /// The values of the samples in a measurement.
    var values: [Double] {
        guard case .measurement(let measurement) = content else { return [] }
        return measurement.samples.compactMap(\.sample.value)
    }

    var gap: Gap? { if case .gap(let gap) = content { gap } else { nil } }
}

extension OutboxStore {
    /// Waiting facts of a lane.
    func pendingFacts(_ lane: Lane, after: Int64, limit: Int) async throws -> [Fact] {
        try await pending(lane, after: after, limit: limit).compactMap(\.fact)
    }
}
