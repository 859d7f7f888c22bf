import GatewayKit

/// Why a call failed, in the format of the link.
struct LinkFailure: Error, Hashable {
    let code: Int
    let message: String

    init(_ code: Int, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The failure for a device's error: the codes of the protocol's section *Errors*.
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

    /// The JSON-RPC error for a line that is not JSON.
    static let parseError = LinkFailure(-32_700, "The line is no JSON.")
    /// The error for JSON text that is neither a call nor an answer.
    static let invalidRequest = LinkFailure(-32_600, "The line is no call and no answer.")
    /// The error for an unknown method.
    static let methodNotFound = LinkFailure(-32_601, "There is no such method.")
    /// The error for a missing or invalid parameter.
    static func invalidParams(_ name: String) -> LinkFailure {
        LinkFailure(-32_602, "The parameter \(name) is missing or of the wrong kind.")
    }

    /// The device's error for a sample that the gateway refused.
    var error: DeviceError { DeviceError(code == 3 ? .invalid : .failure, message) }
}
