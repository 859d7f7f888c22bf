public import GatewayKit

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
