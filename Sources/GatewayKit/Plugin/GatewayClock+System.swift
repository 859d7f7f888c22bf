import Foundation
public import Vitals

extension GatewayClock {
    /// The machine's clocks: its date, and a steady clock that keeps counting while the machine is suspended.
    public static var system: GatewayClock {
        let clock = ContinuousClock()
        let start = clock.now
        return GatewayClock(
            date: { Timestamp(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down))) },
            steady: clock,
            steadyNow: { start.duration(to: clock.now) })
    }
}
