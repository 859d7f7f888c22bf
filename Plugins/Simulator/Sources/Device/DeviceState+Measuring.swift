import GatewayKit
import Vitals

extension DeviceState {
    /// The durations that a measurement may have.
    static let measurementLengths = Duration.seconds(1)...Duration.hours(1)

    /// Begins a measurement.
    mutating func start(
        measuring metric: Metric, for duration: Duration, at moment: Timestamp
    ) throws(DeviceError) -> RunningMeasurement {
        guard capabilities.supports(.measure, metric) else { throw .unsupported("measuring \(metric.rawValue)") }
        guard Self.measurementLengths.contains(duration) else {
            throw DeviceError(.invalid, "A measurement takes from a second to an hour.")
        }
        if let measurement {
            throw DeviceError(
                .busy, "The device is measuring \(measurement.metric.rawValue); stop that, or wait for its end.")
        }
        if battery(at: moment).percent < Self.lowBattery {
            throw DeviceError(.lowBattery, "The battery is too low to measure; charge the device.")
        }
        guard canMeasure(at: moment) else { throw .notWorn }
        measurementCount += 1
        let running = RunningMeasurement(
            id: MeasurementID("measurement-\(measurementCount)"), metric: metric, start: moment,
            length: model.length(ofMeasuring: metric, asked: duration))
        measurement = running
        return running
    }

    /// The events of a measurement after an elapsed time; `isOver` if these are the last.
    mutating func proceed(
        with id: MeasurementID, after elapsed: Duration
    ) -> (events: [DeviceEvent], isOver: Bool) {
        guard var running = measurement, running.id == id else { return ([], true) }
        guard canMeasure(at: running.start + elapsed) else {
            measurement = nil
            return ([.measurementEnded(id, completed: false, error: .notWorn)], true)
        }
        var samples: [Sample] = []
        let seconds = running.due(after: elapsed)
        let isOver = running.isOver(after: elapsed)
        if running.hasOneResult {
            if isOver { samples = [result(of: running)].compactMap(\.self) }
        } else if let seconds {
            samples = seconds.compactMap {
                spot(of: running.metric, at: running.start + .seconds($0), isUserInitiated: true)
            }
        }
        var events = samples.map { DeviceEvent.measurementSample(id, $0) }
        measurement = isOver ? nil : running
        if isOver {
            if let last = samples.last { store(last) }
            events.append(.measurementEnded(id, completed: true, error: nil))
        }
        return (events, isOver)
    }

    /// Ends a measurement early, without a result. Returns whether it was running.
    mutating func stop(_ id: MeasurementID) -> Bool {
        guard measurement?.id == id else { return false }
        measurement = nil
        return true
    }

    /// A clip or a cuff is put on for the measurement; a device worn all day must be on already.
    private mutating func canMeasure(at moment: Timestamp) -> Bool {
        if options.faults.notWorn { return false }
        return model.isWornAllDay ? isWorn(at: moment) : true
    }

    /// The final blood pressure of a measurement. A device for several people stores it in its first slot.
    private mutating func result(of running: RunningMeasurement) -> Sample? {
        let end = running.start + running.length
        guard var sample = spot(of: running.metric, at: end, isUserInitiated: true) else { return nil }
        sample.start = running.start
        sample.user = model.users.first
        return sample
    }

    private mutating func store(_ sample: Sample) {
        measured.append(sample)
        if measured.count > Self.measuredCapacity { measured.removeFirst() }
    }
}

extension DeviceError {
    /// The error for a device that is not worn.
    static let notWorn = DeviceError(.notWorn, "The device is not worn; put it on.")
}

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
