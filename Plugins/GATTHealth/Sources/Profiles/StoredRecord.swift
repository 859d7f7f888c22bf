import GatewayKit
import Vitals

/// A record of a device's memory.
enum StoredRecord: Sendable, Hashable {
    /// Samples of one or several metrics, all with the same start.
    case samples([Sample])
    /// A record that cannot be used. It is counted.
    case refused(UnreadableSample)
    /// No measurement of a person, such as one of a control solution.
    case none
}
