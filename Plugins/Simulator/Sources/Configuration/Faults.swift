import GatewayKit
import Vitals

/// The faults of a simulated device. All are off unless configured.
struct Faults: Sendable, Hashable {
    /// The link breaks after the session has lasted this long; `nil`: never.
    var disconnectEvery: Duration?
    /// The probability that a call is never answered.
    var hang = 0.0
    /// The probability that the device refuses a new monitor configuration or a new time.
    var refuseWrite = 0.0
    /// The probability that a page of history names itself as the next one; with 1 the history never ends.
    var duplicatePage = 0.0
    /// The probability that a history ends with a record of tomorrow.
    var futureRecords = 0.0
    /// The share of records that are permanently unreadable.
    var corruptRecords = 0.0
    /// Whether the battery is always nearly empty, so that the device refuses measurements on demand.
    var lowBattery = false
    /// Whether the device lies on a table from the first session on.
    var notWorn = false
}

extension Faults {
    /// No faults.
    static let none = Faults()

    /// Reads `faults:`. Each key may be left out.
    init(_ options: inout ConfigurationReader) {
        disconnectEvery = options.durationOrOff("disconnect_every", in: .seconds(1)...(.days(30)), default: nil)
        hang = options.probability("hang")
        refuseWrite = options.probability("refuse_write")
        duplicatePage = options.probability("duplicate_page")
        futureRecords = options.probability("future_records")
        corruptRecords = options.probability("corrupt_records")
        lowBattery = options.flag("low_battery", default: false)
        notWorn = options.flag("not_worn", default: false)
    }
}
