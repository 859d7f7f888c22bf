package import GatewayKit
import Synchronization
import Vitals

/// Simulates a wearable. There is no link: the driver is the device.
///
/// The device is created in the first session, when its identifier is known, and keeps its state between sessions.
package final class SimulatorDriver: DeviceDriver {
    package static let name = "simulator"
    package static let link = LinkKind.none

    private let options: SimulatorOptions
    private let device = Mutex<SimulatedDevice?>(nil)

    package init(options: inout ConfigurationReader) { self.options = SimulatorOptions(&options) }

    /// A driver with these options.
    init(_ options: SimulatorOptions) { self.options = options }

    package func withSession(
        over link: Link, context: SessionContext, _ body: @Sendable (any DeviceSession) async throws -> Void
    ) async throws {
        let session = SimulatedSession(device(for: context), context: context)
        try await withThrowingTaskGroup { group in
            group.addTask { try await session.sendLive() }
            group.addTask { try await session.carryOutMeasurements() }
            if let time = options.faults.disconnectEvery {
                group.addTask { try await session.breakLink(after: time) }
            }
            defer {
                session.close()
                group.cancelAll()
            }
            try await body(session)
        }
    }

    private func device(for context: SessionContext) -> SimulatedDevice {
        device.withLock { device in
            if let device { return device }
            let seed = options.seed ?? Noise.seed(of: context.device.text)
            let new = SimulatedDevice(options, seed: seed, calendar: context.calendar)
            device = new
            return new
        }
    }
}

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
