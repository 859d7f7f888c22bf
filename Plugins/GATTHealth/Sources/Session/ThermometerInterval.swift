import GatewayKit
import Vitals

/// The interval of a thermometer that measures by itself (Measurement Interval, 0x2A21; seconds, 0 for never) as a schedule.
actor ThermometerInterval {
    /// The longest interval that 16 bits of seconds and steps of 5 minutes allow, in minutes.
    static let longest = 1090

    private let link: any GATTLink
    private let characteristic: GATTCharacteristic
    private let metric: Metric
    /// The interval in minutes that a schedule keeps which is switched off.
    private var last = 60

    init(_ link: any GATTLink, _ characteristic: GATTCharacteristic, of metric: Metric) {
        self.link = link
        self.characteristic = characteristic
        self.metric = metric
    }

    /// The interval as schedule of the whole day; a part of a minute counts as one.
    func read() async throws(DeviceError) -> MonitorConfiguration {
        let seconds: Int
        do {
            var reader = FieldReader(try await link.read(characteristic))
            seconds = Int(try reader.uint16())
        } catch {
            if let error = error as? GATTError { throw DeviceError(error, "The measurement interval") }
            throw DeviceError(.failure, "The measurement interval of the thermometer cannot be read.")
        }
        if seconds > 0 { last = (seconds + 59) / 60 }
        let schedule = MonitorSchedule(isEnabled: seconds > 0, start: 0, end: 1440, interval: last)
        do { return try MonitorConfiguration(of: metric, schedule: schedule) } catch {
            throw DeviceError(.failure, "\(error)")
        }
    }

    /// Writes the interval of a schedule.
    func write(_ configuration: MonitorConfiguration) async throws(DeviceError) {
        guard configuration.limits.isEmpty else { throw .unsupported("limits of \(metric.rawValue)") }
        guard let schedule = configuration.schedule else { return }
        guard schedule.start == 0, schedule.end == 1440 else {
            throw DeviceError(.invalid, "The thermometer measures all day: a schedule is from 00:00 to 24:00.")
        }
        guard (5...Self.longest).contains(schedule.interval), schedule.interval % 5 == 0 else {
            throw DeviceError(.invalid, "The thermometer's interval is 5 to \(Self.longest) minutes, in steps of 5.")
        }
        let seconds = schedule.isEnabled ? schedule.interval * 60 : 0
        do {
            try await link.write([UInt8(seconds & 0xff), UInt8(seconds >> 8)], to: characteristic, .withResponse)
        } catch .refused(let refusal) where refusal == Self.outOfRange {
            throw DeviceError(.invalid, "The thermometer does not take an interval of \(schedule.interval) minutes.")
        } catch {
            throw DeviceError(error, "The measurement interval")
        }
        last = schedule.interval
    }

    /// The interval is out of the thermometer's own range (Health Thermometer Service, 1.6).
    private static let outOfRange = ATTError(code: 0x80)
}
