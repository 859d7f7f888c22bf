import Concurrency
import Vitals

/// A bounded queue: the driver adds events, the gateway takes all waiting ones at once.
///
/// While a driver waits in `send`, it does not read from its device, so the stream's own flow control slows the device
/// down.
public final class EventInbox: Sendable {
    /// Samples and other events that may wait before `send` suspends: about two seconds of a very fast device, about a
    /// megabyte. A sleep takes a place more for every eight stages.
    public static let defaultCapacity = 4_096

    private let mailbox: Mailbox<DeviceEvent, DeviceError>

    /// Creates an empty inbox with room for `capacity` samples and events.
    public init(capacity: Int = defaultCapacity) {
        mailbox = Mailbox(capacity: capacity) { $0.weight }
    }

    /// Adds events, and returns once there is room for more. After `finish` it drops them.
    public func send(_ events: [DeviceEvent]) async { await mailbox.send(events) }

    /// Ends the inbox, normally (`nil`) or with an error.
    public func finish(_ error: DeviceError? = nil) { mailbox.finish(error) }

    /// Waits for events and returns all of them; `nil` at the end. Events added before the end come first.
    /// - Throws: the error of `finish`; `disconnected` if the task is cancelled while the inbox is empty.
    public func next() async throws(DeviceError) -> [DeviceEvent]? {
        switch try await mailbox.next() {
        case .elements(let events): return events
        case .finished: return nil
        case .cancelled: throw DeviceError(.disconnected, "The session was closed.")
        }
    }
}

extension DeviceEvent {
    /// How many places an event takes in an inbox: those of its samples.
    fileprivate var weight: Int {
        switch self {
        case .samples(let samples, _): max(1, samples.reduce(0) { $0 + $1.weight })
        case .measurementSample(_, let sample): sample.weight
        case .alerts(let alerts, _), .warnings(let alerts, _): max(1, alerts.count)
        default: 1
        }
    }
}
