import GatewayKit
import Vitals

extension SampleIngest {
    /// What a device hears of a sample that is not taken since it was erased.
    static let tooOld = DeviceError(.invalid, "It is older than what the gateway takes of this device.")

    /// What a device hears of an alert of a rule that it does not have.
    static let undeclared = DeviceError(.invalid, "The device does not say that it warns of this.")

    /// Takes nothing of what was erased, or of what is older than the date of the configuration, which counts in its place.
    func restore(_ erased: Erasures) {
        input.erasures = context.policy.from.map { Erasures([.device: $0]) } ?? erased
    }

    /// Whether a sample is not taken.
    func isErased(_ sample: Sample) -> Bool {
        // It may be that of any person whose data was erased.
        isUnattributed(sample)
            ? input.erasures.touch(sample.start) : input.erasures.cover(sample.start, user: sample.user)
    }

    /// The samples that are taken. The others are counted.
    func withoutErased(_ samples: [Sample]) -> [Sample] {
        guard !input.erasures.moments.isEmpty else { return samples }
        let taken = samples.filter { !isErased($0) }
        skipErased(samples.count - taken.count, "samples")
        return taken
    }

    /// Counts what is not taken. No gap announces it: its times are those of a person whose data was erased.
    func skipErased(_ count: Int, _ what: String) {
        let reason = context.policy.from == nil ? "erased" : "before_from"
        skip(SkippedValues(reason: reason, what: what, count: count))
    }

    /// Whether the device's own summary of a day is not taken, which is counted.
    func skipIfErased(_ day: LocalDay) -> Bool {
        guard input.erasures.touch(context.policy.calendar.bounds(of: day).lowerBound) else { return false }
        skipErased(1, "summaries of days")
        return true
    }
}
