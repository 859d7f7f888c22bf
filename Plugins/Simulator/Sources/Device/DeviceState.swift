import GatewayKit
import Vitals

/// The complete state of a simulated device. It outlives sessions, and all its times are those of the device's own
/// clock.
///
/// Body values are computed (`Physiology`). Only the effects of commands are stored: settings, results of measurements,
/// the acknowledged history, the clock's error.
struct DeviceState: Sendable {
    /// The configured options.
    let options: SimulatorOptions
    /// The seed of all its random choices.
    let seed: UInt64
    /// When it is worn, and its battery level.
    let wearing: Wearing
    /// The bodies of its users; the first is the person of the seed.
    var bodies: [Physiology]
    /// How far its clock is ahead of the gateway's.
    var skew: Duration
    /// Its monitoring settings.
    var settings: MonitorSettings
    /// Its past and present schedules.
    var schedules: [Metric: ScheduleLog]
    /// The raised alerts.
    var alerts = AlertWatch()
    /// The running measurement.
    var measurement: RunningMeasurement?
    /// The number of measurements so far.
    var measurementCount = 0
    /// Results of measurements on demand, oldest first.
    var measured: [Sample] = []
    /// The start up to which the gateway has acknowledged a metric's history as durable. The device still serves that
    /// history.
    var acknowledgedThrough: [Metric: Timestamp] = [:]
    /// Since when it lies on a table, if the fault `not_worn` is on.
    var notWornSince: Timestamp?
    /// The number of random draws for faults so far.
    var draws: Int64 = 0

    /// The most results of measurements that the device keeps; the oldest are dropped.
    static let measuredCapacity = 200

    /// A device with factory settings.
    init(_ options: SimulatorOptions, seed: UInt64, calendar: LocalCalendar) {
        self.options = options
        self.seed = seed
        let model = options.model
        wearing = Wearing(model: model, seed: seed)
        bodies = (model.users.isEmpty ? [1] : model.users).map {
            Physiology(Person(seed: seed, slot: $0), in: calendar)
        }
        skew = options.clockSkew
        settings = model.factorySettings
        schedules = [:]
        for metric in settings.metrics {
            schedules[metric] = settings[metric]?.schedule.map { ScheduleLog($0) }
        }
    }

    /// The kind of device.
    var model: Model { options.model }

    /// Its capabilities.
    var capabilities: Capabilities { model.capabilities(historyDays: options.historyDays) }

    /// The time on its clock when the gateway's shows `now`.
    func time(_ now: Timestamp) -> Timestamp { now + skew }

    /// Opens a session in a time zone, which may have changed since the last session.
    mutating func open(in calendar: LocalCalendar, at moment: Timestamp) {
        if bodies.first?.calendar != calendar { bodies = bodies.map { Physiology($0.person, in: calendar) } }
        if options.faults.notWorn, notWornSince == nil { notWornSince = moment }
    }

    /// Whether it is worn.
    mutating func isWorn(at moment: Timestamp) -> Bool {
        if let notWornSince, moment >= notWornSince { return false }
        return wearing.isWorn(at: moment, by: &bodies[0])
    }

    /// Its battery. With the fault `low_battery` it is nearly empty and never charges.
    mutating func battery(at moment: Timestamp) -> BatteryState {
        var state = wearing.battery(at: moment, of: &bodies[0])
        if options.faults.lowBattery {
            state.percent = Self.lowBattery - 1
            if state.isCharging != nil { state.isCharging = false }
        }
        return state
    }

    /// The battery level, in per cent, below which it does not measure on demand.
    static let lowBattery = 5.0

    /// Draws whether a fault of this probability happens now.
    mutating func strikes(_ probability: Double) -> Bool {
        guard probability > 0 else { return false }
        draws += 1
        return Noise(seed: seed).happens(.fault, draws, probability: probability)
    }
}
