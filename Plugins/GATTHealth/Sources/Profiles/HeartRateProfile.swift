import GatewayKit
import Vitals

/// Live heart rates of a strap or a watch, whether it is worn, and the variability.
struct HeartRateProfile: Sendable {
    /// Whether the variability is computed.
    let hasVariability: Bool
    private var isWorn: Bool?
    private var window = BeatWindow()

    init(hasVariability: Bool) { self.hasVariability = hasVariability }

    /// The events of a value that arrives now.
    ///
    /// Without contact there is no sample: the sensor sends the last rate, or one of its own making. A rate of 0 means that there is
    /// none yet.
    mutating func events(of bytes: [UInt8], at now: Timestamp) -> [DeviceEvent] {
        let measurement: HeartRateMeasurement
        do { measurement = try HeartRateMeasurement(bytes) } catch {
            return [.unreadable(UnreadableSample(.heartRate, "a heart rate: \(error.problem)"))]
        }
        var events: [DeviceEvent] = []
        if let contact = measurement.hasContact, contact != isWorn {
            isWorn = contact
            events.append(.wear(isWorn: contact))
        }
        guard measurement.hasContact != false, measurement.rate > 0 else {
            window.reset()
            return events
        }
        var samples = [Sample(metric: .heartRate, start: now, reading: .value(Double(measurement.rate)))]
        let beats = measurement.intervals.map { Double($0) * 1000 / 1024 }
        if hasVariability, let variability = window.add(beats, at: now) { samples.append(variability) }
        events.append(.samples(samples, receipts: []))
        return events
    }
}
