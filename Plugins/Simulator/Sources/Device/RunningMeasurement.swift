import GatewayKit
import Vitals

/// A measurement on demand: one value each second, or for a blood pressure a single one at the end.
struct RunningMeasurement: Sendable, Hashable {
    /// The device's name of it.
    let id: MeasurementID
    let metric: Metric
    /// When it began, by the device's clock.
    let start: Timestamp
    /// How long it takes.
    let length: Duration
    /// The number of seconds reported so far.
    private(set) var seconds = 0

    init(id: MeasurementID, metric: Metric, start: Timestamp, length: Duration) {
        self.id = id
        self.metric = metric
        self.start = start
        self.length = length
    }

    /// Whether it has a single result, at the end.
    var hasOneResult: Bool { metric == .bloodPressure }

    /// The seconds whose values are due after an elapsed time.
    mutating func due(after elapsed: Duration) -> ClosedRange<Int>? {
        let passed = Int(min(elapsed, length).inMilliseconds / 1000)
        guard passed > seconds else { return nil }
        defer { seconds = passed }
        return seconds + 1...passed
    }

    /// Whether it is over after an elapsed time.
    func isOver(after elapsed: Duration) -> Bool { elapsed >= length }
}
