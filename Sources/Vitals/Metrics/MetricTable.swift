import Synchronization

/// The table of all metrics, and lookups derived from it.
package struct MetricTable: Sendable {
    /// The rows, by `Metric.index`.
    package let rows: [MetricDescription]
    let metrics: [Metric]
    let byName: [String: Metric]
    let synchronised: [Metric]
    let monitored: [Metric]

    /// The metric of which a metric holds the resting values, if any, by `Metric.index`.
    let restOf: [Metric?]

    init(_ rows: [MetricDescription]) {
        self.rows = rows
        let metrics = rows.indices.map { Metric(index: $0) }
        let byName = Dictionary(uniqueKeysWithValues: zip(rows.map(\.name), metrics))
        self.metrics = metrics
        self.byName = byName
        let kept = zip(rows, metrics).filter { $0.0.hasHistory }
        synchronised =
            kept.filter { $0.0.shape == .session }.map(\.1) + kept.filter { $0.0.shape != .session }.map(\.1)
        monitored = zip(rows, metrics).filter { $0.0.monitoring != nil }.map(\.1)
        restOf = rows.map { row in row.restOf.flatMap { byName[$0] } }
    }

    /// The table of this process: created at the first use of a metric, and fixed from then on.
    package static let current = MetricTable(standard + additional.withLock { $0 })

    /// Adds rows to the standard ones, before the first use of a metric. Lets a test add a metric to a process of its
    /// own, to prove that a metric needs nothing but its row.
    package static func add(_ rows: [MetricDescription]) { additional.withLock { $0 += rows } }

    private static let additional = Mutex<[MetricDescription]>([])

    /// The metrics of the contract, in the order of the places used by `Metric`.
    ///
    /// The ranges are deliberately wide: they exclude what a sensor sends without contact (0 or 255 bpm, 20 °C), but
    /// nothing that is merely unusual. Default schedules and limits are the examples from the guide of automatic
    /// monitoring.
    private static let standard: [MetricDescription] = [
        MetricDescription(
            "heart_rate", .value, unit: "bpm", range: 20...300, freshness: .minutes(30),
            monitoring: .init(
                from: 480, to: 1440, every: 10, limits: [(.resting, 40...100), (.exercise, 60...180)],
                exerciseMaximum: 190, hysteresis: 5)),
        MetricDescription("resting_heart_rate", .value, unit: "bpm", range: 20...300, restOf: "heart_rate"),
        MetricDescription(
            "blood_pressure", .pressure, unit: "mmHg", range: 20...300,
            // A cuff measures rarely, so one pressure is enough.
            monitoring: .init(
                from: 360, to: 1320, every: 15, limits: [(.systolic, 90...140), (.diastolic, 60...90)], hysteresis: 5,
                count: 1)),
        MetricDescription(
            "blood_oxygen", .value, unit: "%", range: 0...100, freshness: .hours(24),
            monitoring: .init(from: 0, to: 1440, every: 30, limits: [(.value, 95...100)], hysteresis: 1)),
        MetricDescription(
            "stress", .value, unit: nil, range: 0...100, freshness: .hours(2),
            monitoring: .init(from: 480, to: 1200, every: 20, limits: [(.value, 0...70)], hysteresis: 5)),
        MetricDescription(
            "temperature", .value, unit: "°C", range: 25...45, decimals: 1, freshness: .hours(24),
            monitoring: .init(from: 0, to: 1440, every: 60, limits: [(.value, 36...38)], hysteresis: 0.3)),
        MetricDescription("steps", .count, unit: "steps"),
        MetricDescription("sleep", .sleep, unit: "min"),
        MetricDescription("sport", .session, unit: "min"),
        MetricDescription("battery", .value, unit: "%", range: 0...100, hasHistory: false),
    ]
}
