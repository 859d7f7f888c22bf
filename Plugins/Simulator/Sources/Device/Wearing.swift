import Vitals

/// When a device is worn and how full its battery is: a pure function of device, model and time.
struct Wearing: Sendable {
    /// The kind of device.
    let model: Model
    /// The random source: from the seed, but different for two models of one person.
    let noise: Noise

    /// The wearing habits for a device.
    init(model: Model, seed: UInt64) {
        self.model = model
        noise = Noise(seed: seed ^ Noise.seed(of: model.rawValue))
    }

    /// When a device that is worn all day is charged: once each evening, after the last activity and before bed.
    func charging(on profile: DailyProfile) -> Range<Timestamp> {
        let key = Int64(profile.day.number)
        let start = profile.evening(noise.integer(.charging, key, in: 1190...1230))
        return start..<start + .minutes(noise.integer(.chargingLength, key, in: 35...55))
    }

    /// Whether the device is on the body.
    func isWorn(at moment: Timestamp, by physiology: inout Physiology) -> Bool {
        switch model {
        case .band, .ring:
            !charging(on: physiology.profile(at: moment)).contains(moment)
        case .cuff, .scale, .glucose: true
        case .oximeter: spotCheck(at: moment, by: &physiology)
        }
    }

    /// The battery at a moment.
    func battery(at moment: Timestamp, of physiology: inout Physiology) -> BatteryState {
        guard model.isWornAllDay else { return disposableBattery(at: moment) }
        let profile = physiology.profile(at: moment)
        let yesterday = physiology.profile(of: profile.day.advanced(by: -1))
        let before = charging(on: yesterday)
        let today = charging(on: profile)
        func level(since full: Timestamp, until moment: Timestamp) -> Double {
            max(5, 100 - noise.number(.drain, in: 1.2...2.8) * (moment - full).inMinutes / 60)
        }
        if moment < today.lowerBound {
            return BatteryState(percent: level(since: before.upperBound, until: moment).rounded(), isCharging: false)
        }
        if today.contains(moment) {
            let low = level(since: before.upperBound, until: today.lowerBound)
            let part = (moment - today.lowerBound).inMinutes / (today.upperBound - today.lowerBound).inMinutes
            return BatteryState(percent: (low + (100 - low) * part).rounded(), isCharging: true)
        }
        return BatteryState(percent: level(since: today.upperBound, until: moment).rounded(), isCharging: false)
    }

    /// The level of replaceable batteries, replaced when low. Each device is at its own point of that cycle.
    private func disposableBattery(at moment: Timestamp) -> BatteryState {
        let life = model.batteryLife.inMilliseconds
        let shifted = moment.milliseconds + Int64(noise.unit(.batteryPhase) * Double(life))
        let part = Double(shifted - shifted.floored(by: life) * life) / Double(life)
        return BatteryState(percent: (100 - 88 * part).rounded(), isCharging: nil)
    }

    /// Whether a finger clip is on: once an hour for some minutes, while the person is up.
    private func spotCheck(at moment: Timestamp, by physiology: inout Physiology) -> Bool {
        let hour = Duration.hours(1).inMilliseconds
        let index = moment.milliseconds.floored(by: hour)
        let start = Timestamp(
            milliseconds: index * hour + Int64(noise.integer(.spotCheck, index, in: 2...45)) * 60_000)
        let end = start + .minutes(noise.integer(.spotCheckLength, index, in: 4...10))
        guard start <= moment, moment < end else { return false }
        let profile = physiology.profile(at: moment)
        return !profile.isAsleep(start) && !profile.isAsleep(end)
    }
}

/// A device's report about its battery.
struct BatteryState: Sendable, Hashable {
    /// Whole per cent.
    var percent: Double
    /// Whether it is charging; `nil` for a device with replaceable batteries.
    var isCharging: Bool?
}
