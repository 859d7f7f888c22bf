package import GatewayKit
package import Vitals

extension Answer {
    /// The final answer to a command that the device did not carry out.
    package init(_ error: DeviceError, data: Data? = nil) {
        self.init(.failed, code: AnswerCode(error), message: error.message, data: data)
    }
}

extension AnswerCode {
    /// The answer code for a device error.
    package init(_ error: DeviceError) {
        switch error.code {
        case .unsupported: self = .unsupported
        case .busy: self = .busy
        case .invalid: self = .invalid
        case .timeout: self = .timeout
        case .disconnected: self = .offline
        case .notWorn: self = .notWorn
        case .lowBattery: self = .lowBattery
        case .failure: self = .deviceError
        }
    }
}
