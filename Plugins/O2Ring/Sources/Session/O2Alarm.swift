import GatewayKit
import Vitals

/// The limits beyond which a ring vibrates: the lowest blood oxygen, or the lowest and the highest pulse.
struct O2Alarm: Sendable, Hashable {
    let metric: Metric
    var limits: AlertLimits

    /// The lower limits of the blood oxygen that a ring takes (fact of the maker's library).
    static let oxygen = 80.0...95
    /// The limits of the pulse that a ring takes (fact of the maker's library).
    static let pulse = 30.0...250
    static let metrics: [Metric] = [.heartRate, .bloodOxygen]
    /// The ring has no upper limit of the blood oxygen: nothing is above it.
    private static let highestOxygen = 100.0

    /// The limits of a metric; `nil` if the ring does not report them.
    init?(of metric: Metric, in information: OxiInformation) {
        self.metric = metric
        switch metric {
        case .bloodOxygen:
            guard let isOn = information.number("OxiSwitch"), let lower = information.number("CurOxiThr") else {
                return nil
            }
            limits = AlertLimits(isEnabled: isOn != 0, lower: Double(lower), upper: Self.highestOxygen)
        case .heartRate:
            guard let isOn = information.number("HRSwitch"), let lower = information.number("HRLowThr"),
                let upper = information.number("HRHighThr")
            else { return nil }
            limits = AlertLimits(isEnabled: isOn != 0, lower: Double(lower), upper: Double(upper))
        default: return nil
        }
    }

    /// The limits of a configuration; `nil` if it has none.
    /// - Throws: `invalid` for those that the ring does not take.
    init?(_ configuration: MonitorConfiguration) throws(DeviceError) {
        metric = configuration.metric
        guard configuration.schedule == nil, configuration.exerciseMaximum == nil,
            configuration.limits[.exercise] == nil
        else { throw .unsupported("a schedule, or limits in exercise") }
        guard let limits = configuration.limits[metric == .heartRate ? .resting : .value] else { return nil }
        self.limits = limits
        let isWhole = [limits.lower, limits.upper].allSatisfy { $0 == $0.rounded() }
        switch metric {
        case .bloodOxygen:
            guard isWhole, Self.oxygen.contains(limits.lower), limits.upper == Self.highestOxygen else {
                throw DeviceError(
                    .invalid, "The ring's limit of the blood oxygen is from 80 to 95 %, and the upper one 100 %.")
            }
        default:
            guard isWhole, Self.pulse.contains(limits.lower), Self.pulse.contains(limits.upper),
                limits.lower < limits.upper
            else {
                throw DeviceError(
                    .invalid, "The ring's limits of the pulse are from 30 to 250, the lower below the upper.")
            }
        }
    }

    /// The limits as a configuration.
    func configuration() throws(DeviceError) -> MonitorConfiguration {
        do {
            return try MonitorConfiguration(
                of: metric, limits: [metric == .heartRate ? .resting : .value: limits])
        } catch { throw DeviceError(.failure, "\(error)") }
    }

    /// The settings that are written to the ring.
    var values: [(name: String, value: String)] {
        let isOn = limits.isEnabled ? "1" : "0"
        guard metric == .heartRate else {
            return [("SetOxiThr", "\(Int(limits.lower))"), ("SetOxiSwitch", isOn)]
        }
        return [
            ("SetHRLowThr", "\(Int(limits.lower))"), ("SetHRHighThr", "\(Int(limits.upper))"), ("SetHRSwitch", isOn),
        ]
    }
}
