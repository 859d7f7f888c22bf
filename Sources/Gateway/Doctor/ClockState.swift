import CTimex
import GatewayKit
import Vitals

/// The machine's clock, which dates every sample that a device does not date.
struct ClockState: Sendable, Hashable {
    /// Before it a date is certainly wrong: this program did not exist.
    static let earliest = Timestamp(seconds: 1_735_689_600)

    /// The date.
    var now: Timestamp
    /// Whether a time service keeps it right; `nil` if the system does not say it.
    var isSynchronised: Bool?

    /// The date and what the kernel knows of it (adjtimex(2)).
    static func current(_ clock: GatewayClock) -> ClockState {
        var state = timex()
        let answer = adjtimex(&state)
        return ClockState(now: clock.now, isSynchronised: answer < 0 ? nil : answer != TIME_ERROR)
    }

    /// What it means, in the zone of the configuration.
    func finding(in calendar: LocalCalendar) -> Finding {
        let text = "\(now), and days are those of \(calendar.identifier)"
        if now < Self.earliest {
            return Finding(
                .problem, "clock", "It is \(now) here, which cannot be. Set the clock: timedatectl set-ntp true.")
        }
        switch isSynchronised {
        case true?: return Finding(.fine, "clock", "It is \(text). A time service keeps it right.")
        case false?:
            return Finding(
                .warning, "clock",
                "It is \(text). No time service keeps it right, so samples may get wrong times: timedatectl set-ntp true."
            )
        case nil: return Finding(.fine, "clock", "It is \(text).")
        }
    }
}
