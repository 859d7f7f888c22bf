import GatewayKit
import Recordings

/// A call that the gateway makes while a recording is played.
struct PlayedCall: Sendable {
    /// What it does.
    var call: RecordedCall
    /// The characteristic, if it has one.
    var characteristic: BluetoothUUID?

    /// Whether the recorded call does the same with the same characteristic. It may write other bytes.
    func isOfSameKind(as recorded: RecordedCall) -> Bool {
        switch (call, recorded) {
        case (.read(let a), .read(let b)), (.subscribe(let a), .subscribe(let b)),
            (.unsubscribe(let a), .unsubscribe(let b)), (.write(let a, _, _), .write(let b, _, _)):
            a == b
        case (.serve, .serve): true
        default: false
        }
    }

    /// Whether it is of the same kind as a recorded call.
    func matches(_ recorded: RecordedCall, _ comparison: Comparison) -> Bool {
        switch (call, recorded) {
        case (.write(_, let bytes, let kind), .write(_, let other, let otherKind)):
            kind == otherKind && comparison.matches(bytes.bytes, other, of: characteristic)
        case (.serve(let a), .serve(let b)): a == b
        default: true
        }
    }

    /// The call, for a person.
    var text: String { call.text }
}

extension RecordedCall {
    /// The call, for a person.
    var text: String {
        switch self {
        case .read(let handle): "a read of the handle \(handle)"
        case .write(let handle, let bytes, let kind):
            "a write \(kind == .withResponse ? "with" : "without") response to the handle \(handle) of "
                + Difference.show(bytes.bytes)
        case .subscribe(let handle): "a subscription to the handle \(handle)"
        case .unsubscribe(let handle): "the end of a subscription to the handle \(handle)"
        case .serve(let services): "an offer of the services \(services.map(\.description).joined(separator: ", "))"
        }
    }
}
