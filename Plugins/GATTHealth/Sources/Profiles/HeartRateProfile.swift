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

/// What a heart-rate strap sends (GATT Specification Supplement, Heart Rate Measurement, 0x2A37).
struct HeartRateMeasurement: Sendable, Hashable {
    /// Beats per minute.
    var rate: Int
    /// Whether the sensor touches the skin; `nil` if the device does not know.
    var hasContact: Bool?
    /// Energy spent since it was last set to 0, in kilojoules.
    var energy: Int?
    /// Times between heartbeats, oldest first, in 1/1024 s.
    var intervals: [Int]

    init(_ bytes: [UInt8]) throws(FormatError) {
        var reader = FieldReader(bytes)
        let flags = try reader.uint8()
        rate = flags & 0x01 != 0 ? Int(try reader.uint16()) : Int(try reader.uint8())
        hasContact = flags & 0x04 != 0 ? flags & 0x02 != 0 : nil
        energy = flags & 0x08 != 0 ? Int(try reader.uint16()) : nil
        intervals = []
        guard flags & 0x10 != 0 else { return }
        while reader.count >= 2 { intervals.append(Int(try reader.uint16())) }
    }
}
