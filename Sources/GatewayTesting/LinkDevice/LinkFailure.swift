import GatewayKit

/// Why a call is not done, as it is written on the link.
struct LinkFailure: Error, Hashable {
    let code: Int
    let message: String

    init(_ code: Int, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The failure of a device's call: the codes of the protocol's section *Errors*.
    init(_ error: DeviceError) {
        let code =
            switch error.code {
            case .unsupported: 1
            case .busy: 2
            case .invalid: 3
            case .notWorn: 4
            case .lowBattery: 5
            case .failure, .timeout, .disconnected: 6
            }
        self.init(code, error.message)
    }

    /// A line that is no JSON, in JSON-RPC's words.
    static let parseError = LinkFailure(-32_700, "The line is no JSON.")
    /// A JSON text that is neither a call nor an answer.
    static let invalidRequest = LinkFailure(-32_600, "The line is no call and no answer.")
    /// A method that this device does not know.
    static let methodNotFound = LinkFailure(-32_601, "There is no such method.")
    /// Parameters that the method does not have, or lacks.
    static func invalidParams(_ name: String) -> LinkFailure {
        LinkFailure(-32_602, "The parameter \(name) is missing or of the wrong kind.")
    }

    /// What the device learns of a sample that the gateway refused.
    var error: DeviceError { DeviceError(code == 3 ? .invalid : .failure, message) }
}
