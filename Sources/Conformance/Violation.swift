public import GatewayKit
import Synchronization

extension DriverConformance {
    /// A part of the suite, with its own session. The raw value is its name.
    public enum Check: String, CaseIterable, Sendable, Hashable {
        /// The device's description is consistent.
        case description
        /// A clock takes the time that it is set to.
        case clock
        /// The history is complete, ascending, and the same each time.
        case history
        /// A device is informed how far its history is durable.
        case acknowledgement
        /// The device's own summaries are complete.
        case summaries
        /// Operations beyond the device's abilities are refused as unsupported.
        case unsupported
        /// Monitoring settings are read back as written.
        case monitoring
        /// A measurement gives samples and one end, even if it is stopped.
        case measurement
        /// Events arrive in the device's order, and the end of the link is reported.
        case events
        /// A device is informed which of its samples are durable.
        case receipts
        /// Simultaneous calls get their own answers.
        case overlap = "overlapping calls"
        /// A cancelled call breaks nothing.
        case cancellation
        /// Calls wait for a silent device, and end when they are cancelled.
        case silence
        /// Calls fail as disconnected when the link ends.
        case interruption
        /// A graceful disconnect is quick.
        case shutdown
    }

    /// A violation of the requirements by a driver.
    public struct Violation: Sendable, Hashable, CustomStringConvertible {
        /// The check that found it.
        public let check: Check
        /// A sentence: what the driver does, and what it should do.
        public let text: String
        /// The error of the failed operation, if one failed.
        public let code: DeviceError.Code?

        init(_ check: Check, _ text: String, _ code: DeviceError.Code?) {
            self.check = check
            self.text = text
            self.code = code
        }

        /// The check's name and the text.
        public var description: String { "\(check.rawValue): \(text)" }
    }
}

/// The violations that a check found.
final class Violations: Sendable {
    private let state = Mutex<(all: [(text: String, code: DeviceError.Code?)], expectsFailure: Bool)>(([], false))

    var all: [(text: String, code: DeviceError.Code?)] { state.withLock { $0.all } }
    /// Whether the check itself has ended the link.
    var expectsFailure: Bool { state.withLock { $0.expectsFailure } }

    func add(_ violation: String, _ code: DeviceError.Code? = nil) {
        state.withLock { $0.all.append((violation, code)) }
    }
    func expectFailure() { state.withLock { $0.expectsFailure = true } }

    /// Adds a violation if a condition is false.
    func expect(_ condition: Bool, _ violation: @autoclosure () -> String) { if !condition { add(violation()) } }

    /// Adds a violation if `body` does not throw a device error with one of these codes.
    /// - Throws: a `timeout`, after which the session is of no further use.
    func expect(
        _ codes: Set<DeviceError.Code>, _ what: String, _ body: () async throws -> Void
    ) async throws {
        let names = codes.map(\.rawValue).sorted().joined(separator: " or ")
        do {
            try await body()
            add("\(what) succeeded; it should throw \(names).")
        } catch {
            let code = (error as? DeviceError)?.code
            if let code, codes.contains(code) { return }
            if code == .timeout { throw error }
            add("\(what) threw \(error); it should throw \(names).", code)
        }
    }
}
