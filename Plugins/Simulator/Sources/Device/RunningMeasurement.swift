import GatewayKit
import Vitals

/// A measurement that somebody asked for: a value each second, or one at the end for a blood pressure.
struct RunningMeasurement: Sendable, Hashable {
    /// The device's name of it.
    let id: MeasurementID
    /// What is measured.
    let metric: Metric
    /// When it began, by the device's clock.
    let start: Timestamp
    /// How long it takes.
    let length: Duration
    /// Seconds of it that were reported.
    private(set) var seconds = 0

    /// A measurement that begins.
    init(id: MeasurementID, metric: Metric, start: Timestamp, length: Duration) {
        self.id = id
        self.metric = metric
        self.start = start
        self.length = length
    }

    /// Whether there is one result, at the end.
    var hasOneResult: Bool { metric == .bloodPressure }

    /// The seconds whose values are due when so much time has passed.
    mutating func due(after elapsed: Duration) -> ClosedRange<Int>? {
        let passed = Int(min(elapsed, length).inMilliseconds / 1000)
        guard passed > seconds else { return nil }
        defer { seconds = passed }
        return seconds + 1...passed
    }

    /// Whether it is over when so much time has passed.
    func isOver(after elapsed: Duration) -> Bool { elapsed >= length }
}
