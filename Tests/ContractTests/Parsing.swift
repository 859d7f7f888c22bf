import Contract
import JSON
import Testing
import Vitals

/// Parses a message; all tests use this function.
func parse(
    _ topic: String, _ payload: String = "", isRetained: Bool = false, responseTopic: String? = nil,
    correlation: [UInt8]? = nil
) -> Incoming {
    Examples.parser.parse(
        topic: "vitals2mqtt/home/\(topic)", payload: Array(payload.utf8), isRetained: isRetained,
        responseTopic: responseTopic, correlation: correlation, receivedAt: Examples.now)
}

extension Incoming {
    var deviceCommand: DeviceCommand? { if case .device(let command, _) = self { command } else { nil } }
    var gatewayCommand: GatewayCommand? { if case .gateway(let command, _) = self { command } else { nil } }
    var answer: Answer? { if case .rejected(let answer, _, _) = self { answer } else { nil } }
    var republishesConfig: Bool { if case .rejected(_, _, true) = self { true } else { false } }
    /// The paths of all errors.
    var paths: [String] { answer?.violations.map(\.path) ?? [] }
    var patch: MonitorPatch? {
        if case .configure(let patch, _, _)? = deviceCommand { patch } else { nil }
    }
}
