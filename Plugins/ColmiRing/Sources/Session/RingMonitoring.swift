import GatewayKit
import Vitals

/// The monitoring of a ring: the heart rate at an interval, other metrics on or off.
struct RingMonitoring: Sendable {
    /// The intervals of the heart rate in minutes; longer ones are not taken by the rings (fact of Gadgetbridge).
    static let intervals = 5...60
    /// An unknown setting costs this time when a session opens.
    static let timeout: Duration = .seconds(3)

    private let queue: RingRequestQueue

    init(_ queue: RingRequestQueue) { self.queue = queue }

    /// How a metric is switched.
    private struct Switch {
        var command: UInt8
        /// Bytes between the command and what is to be done.
        var beginning: [UInt8] = []
        /// Minutes between two values; `nil` if they can be set.
        var interval: Int?
    }

    private static let switches: [Metric: Switch] = [
        .heartRate: Switch(command: RingRequest.heartRateSetting),
        .bloodOxygen: Switch(command: RingRequest.oxygenSetting, interval: 60),
        .stress: Switch(command: RingRequest.stressSetting, interval: 30),
        .skinTemperature: Switch(command: RingRequest.temperatureSetting, beginning: [3], interval: 30),
    ]

    private static let (read, write): (UInt8, UInt8) = (1, 2)

    /// The metrics that may have a setting.
    static var metrics: [Metric] { Metric.allCases.filter { switches[$0] != nil } }

    /// Reads the setting of a metric.
    func configuration(
        of metric: Metric, timeout: Duration = RingRequestQueue.timeout, attempts: Int = RingRequestQueue.attempts
    ) async throws(DeviceError) -> MonitorConfiguration {
        guard let setting = Self.switches[metric] else { throw .unsupported("monitoring of \(metric.rawValue)") }
        let beginning = setting.beginning + [Self.read]
        let reply = try await queue.ask(
            RingPacket(setting.command, beginning), for: PacketReply(setting.command, beginning: beginning),
            timeout: timeout, attempts: attempts)
        guard let data = reply.packet?.data.dropFirst(beginning.count), let state = data.first else {
            throw DeviceError(.failure, "The ring's setting cannot be read.")
        }
        let minutes = setting.interval ?? Int(data[data.startIndex + 1])
        // A ring whose monitoring is off may report no interval.
        let interval = minutes == 0 ? Self.intervals.upperBound : minutes
        let schedule = MonitorSchedule(isEnabled: state == 1, start: 0, end: 1440, interval: interval)
        do { return try MonitorConfiguration(of: metric, schedule: schedule) } catch {
            throw DeviceError(.failure, "\(error)")
        }
    }

    /// Writes the setting of a metric.
    func set(_ configuration: MonitorConfiguration) async throws(DeviceError) {
        let metric = configuration.metric
        guard let setting = Self.switches[metric] else { throw .unsupported("monitoring of \(metric.rawValue)") }
        guard configuration.limits.isEmpty, configuration.exerciseMaximum == nil else {
            throw .unsupported("limits of \(metric.rawValue)")
        }
        guard let schedule = configuration.schedule else { return }
        guard schedule.start == 0, schedule.end == 1440 else {
            throw DeviceError(.invalid, "The ring measures all day: a schedule is from 00:00 to 24:00.")
        }
        var bytes = setting.beginning + [Self.write]
        if let interval = setting.interval {
            guard schedule.interval == interval else {
                throw DeviceError(.invalid, "The ring's interval of \(metric.rawValue) is \(interval) minutes.")
            }
            bytes.append(schedule.isEnabled ? 1 : 0)
        } else {
            guard Self.intervals.contains(schedule.interval), schedule.interval % 5 == 0 else {
                throw DeviceError(.invalid, "The ring's interval is 5 to 60 minutes, in steps of 5.")
            }
            bytes += [schedule.isEnabled ? 1 : 2, UInt8(schedule.interval)]
        }
        let beginning = setting.beginning + [Self.write]
        _ = try await queue.ask(
            RingPacket(setting.command, bytes), for: PacketReply(setting.command, beginning: beginning))
    }
}
