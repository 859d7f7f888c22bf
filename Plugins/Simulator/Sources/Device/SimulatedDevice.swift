import GatewayKit
import Synchronization
import Vitals

/// A device that lives as long as its driver, through all its sessions.
final class SimulatedDevice: Sendable {
    private let state: Mutex<DeviceState>

    /// A device with factory settings.
    init(_ options: SimulatorOptions, seed: UInt64, calendar: LocalCalendar) {
        state = Mutex(DeviceState(options, seed: seed, calendar: calendar))
    }

    /// Calls `body` with exclusive access to the device's state.
    func use<Result: Sendable, Failure: Error>(
        _ body: (inout DeviceState) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try state.withLock { state throws(Failure) -> Result in try body(&state) }
    }
}
