import GatewayKit
import Synchronization
import Vitals

/// A device that lives as long as its driver does, through all its sessions.
final class SimulatedDevice: Sendable {
    private let state: Mutex<DeviceState>

    /// A device as it comes out of its box.
    init(_ options: SimulatorOptions, seed: UInt64, calendar: LocalCalendar) {
        state = Mutex(DeviceState(options, seed: seed, calendar: calendar))
    }

    /// Does something with what the device knows.
    func use<Result: Sendable, Failure: Error>(
        _ body: (inout DeviceState) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try state.withLock { state throws(Failure) -> Result in try body(&state) }
    }
}
