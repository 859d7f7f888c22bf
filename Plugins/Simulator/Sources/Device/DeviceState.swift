import GatewayKit
import Vitals

/// Everything that a simulated device knows. It outlives sessions, as a device outlives its connections, and all its times
/// are those of the device's own clock.
///
/// What the body does is computed (`Physiology`); only what somebody did to the device is stored: settings, results of
/// measurements, how far its history was acknowledged, how wrong its clock is.
struct DeviceState: Sendable {
    /// What the configuration says.
    let options: SimulatorOptions
    /// Where its chances come from.
    let seed: UInt64
    /// When it is worn, and its battery.
    let wearing: Wearing
    /// The bodies of its users: the person of the seed first.
    var bodies: [Physiology]
    /// How far its clock is ahead of the gateway's.
    var skew: Duration
    /// How it monitors.
    var settings: MonitorSettings
    /// Which schedule held when.
    var schedules: [Metric: ScheduleLog]
    /// The alerts that are raised.
    var alerts = AlertWatch()
    /// The measurement that runs.
    var measurement: RunningMeasurement?
    /// How many measurements there were.
    var measurementCount = 0
    /// Results of measurements on demand, oldest first.
    var measured: [Sample] = []
    /// Up to which start the gateway has said that a metric's history is durable. The device goes on serving it.
    var acknowledgedThrough: [Metric: Timestamp] = [:]
    /// Since when it lies on a table, where the fault `not_worn` is on.
    var notWornSince: Timestamp?
    /// How many chances were drawn for faults.
    var draws: Int64 = 0

    /// Results of measurements that fit into the device; with more, the oldest are gone.
    static let measuredCapacity = 200

    /// A device as it comes out of its box.
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

    /// What it can do.
    var capabilities: Capabilities { model.capabilities(historyDays: options.historyDays) }

    /// What its clock shows when the gateway's shows `now`.
    func time(_ now: Timestamp) -> Timestamp { now + skew }

    /// Goes on in a time zone: the gateway's may have changed between two sessions.
    mutating func open(in calendar: LocalCalendar, at moment: Timestamp) {
        if bodies.first?.calendar != calendar { bodies = bodies.map { Physiology($0.person, in: calendar) } }
        if options.faults.notWorn, notWornSince == nil { notWornSince = moment }
    }

    /// Whether it is worn.
    mutating func isWorn(at moment: Timestamp) -> Bool {
        if let notWornSince, moment >= notWornSince { return false }
        return wearing.isWorn(at: moment, by: &bodies[0])
    }

    /// Its battery. With the fault `low_battery` it is nearly empty and never charged.
    mutating func battery(at moment: Timestamp) -> BatteryState {
        var state = wearing.battery(at: moment, of: &bodies[0])
        if options.faults.lowBattery {
            state.percent = Self.lowBattery - 1
            if state.isCharging != nil { state.isCharging = false }
        }
        return state
    }

    /// Per cent below which it does not measure on demand.
    static let lowBattery = 5.0

    /// Whether a fault of this probability happens now.
    mutating func strikes(_ probability: Double) -> Bool {
        guard probability > 0 else { return false }
        draws += 1
        return Noise(seed: seed).happens(.fault, draws, probability: probability)
    }
}
