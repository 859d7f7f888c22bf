package import GatewayKit
package import Vitals

/// Decides whether a device's record is plausible.
package enum SampleCheck {
    /// Why a record is refused regardless of the current time; `nil` if it is plausible.
    /// - Parameter metric: the requested metric, if any.
    package static func reason(of sample: Sample, expecting metric: Metric? = nil) -> RefusalReason? {
        if let metric, sample.metric != metric { return .malformed }
        if sample.isValid { return nil }
        if sample.end < sample.start { return .endBeforeStart }
        return sample.duration > SampleLimits.duration ? .tooLong : .outOfRange
    }

    /// Why a live sample is refused, and the error to send to the device; `nil` if it is accepted.
    package static func refusal(of sample: Sample, at now: Timestamp) -> (reason: RefusalReason, error: DeviceError)? {
        if let reason = reason(of: sample) {
            let message = sample.violations.map { "\($0.path): \($0.message)" }.joined(separator: " ")
            return (reason, DeviceError(.invalid, message))
        }
        guard sample.end > now + SyncPolicy.futureTolerance else { return nil }
        return (.future, DeviceError(.invalid, "The sample lies in the future; set the device's clock."))
    }
}
