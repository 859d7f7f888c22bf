package import GatewayKit
package import Vitals

/// A link of a recording, from its opening to its end.
package struct RecordedLink: Sendable, Hashable {
    /// What a link carries.
    package enum Kind: Sendable, Hashable {
        /// A stream of bytes.
        case bytes
        /// A Bluetooth connection with these services, and its `GATTLink.maximumPayload`.
        case gatt([GATTService], maximumPayload: Int)

        /// The kind of link that a driver needs for it.
        package var link: LinkKind {
            switch self {
            case .bytes: .bytes
            case .gatt: .gatt
            }
        }
    }

    /// The link's number in the recording, from 1.
    package var number: Int
    /// The device at its other end.
    package var device: DeviceID
    /// The driver that spoke over it.
    package var driver: String
    /// What it carries.
    package var kind: Kind
    /// The time from the beginning of the recording until it was open.
    package var opened: Duration
    /// What happened on it, in order.
    package var events: [RecordedEvent]

    /// A link.
    package init(
        number: Int, device: DeviceID, driver: String, kind: Kind, opened: Duration, events: [RecordedEvent] = []
    ) {
        self.number = number
        self.device = device
        self.driver = driver
        self.kind = kind
        self.opened = opened
        self.events = events
    }
}
