/// Why a call of a Bluetooth link failed.
public enum GATTError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The device refused it. The link stays open.
    case refused(ATTError)
    /// The link is over, the device did not answer in time, or the call was cancelled (`cancelled`; then the link stays open).
    case link(LinkError)

    /// The text for a person, with the remedy if it is known.
    public var description: String {
        switch self {
        case .refused(let error): error.description
        case .link(let error): error.message
        }
    }
}

extension DeviceError {
    /// The error of a call that failed for this reason; `what` begins its message, such as "The heart rate".
    public init(_ error: GATTError, _ what: String) {
        switch error {
        case .refused(let refusal):
            let code: Code =
                switch refusal {
                case .valueNotAllowed, .outOfRange, .invalidLength: .invalid
                case .requestNotSupported: .unsupported
                case .procedureInProgress, .insufficientResources: .busy
                default: .failure
                }
            self.init(code, "\(what): \(refusal.description)")
        case .link(let error):
            self.init(error.code == .timeout ? .timeout : .disconnected, "\(what): \(error.message)")
        }
    }
}
