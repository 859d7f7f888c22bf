import Concurrency
import GatewayKit
import Vitals

/// Why a session ended.
enum SessionEnd: Error, CustomStringConvertible {
    /// The gateway stops, or the device was removed.
    case stopped
    /// A new connection was requested.
    case reconnect
    case failed(String)

    /// As the log has it.
    var description: String {
        switch self {
        case .stopped: "The gateway stops, or the device was removed."
        case .reconnect: "A new connection was requested."
        case .failed(let reason): reason
        }
    }
}

/// One attempt to connect, and the session that it opens.
struct ConnectionAttempt: Sendable {
    /// Fulfilled with the reason for which the attempt or its session has to end.
    let end = Promise<SessionEnd>()
    /// Fulfilled when the session is open. An open session ends by itself, after a graceful disconnect.
    let opened = Promise<Void>()
    /// Fulfilled when the session has ended.
    let closed = Promise<Void>()

    var isOpen: Bool { opened.value != nil && closed.value == nil }
}

/// An open session.
struct OpenSession: Sendable {
    let description: DeviceDescription
    let attempt: ConnectionAttempt
    /// Work that needs the session, runs within it and ends with it.
    let work: Mailbox<SessionWork, Never>
}

/// Work that needs the open session.
enum SessionWork: Sendable {
    /// Stop and start measurements.
    case measurement(MeasurementOrder)
    /// Write pending settings.
    case push(Promise<Result<MonitorSync.Refusal?, DeviceError>>)
    /// Read the monitoring of these metrics.
    case fetch([Metric], Promise<Result<[MonitorSync.Failure], DeviceError>>)
    /// Set the device's clock.
    case setClock(Promise<Result<Void, DeviceError>>)

    /// Answers work that cannot be done, as the session has ended.
    func abandon() {
        switch self {
        case .measurement: break
        case .push(let reply): reply.fulfil(.failure(Self.notConnected))
        case .fetch(_, let reply): reply.fulfil(.failure(Self.notConnected))
        case .setClock(let reply): reply.fulfil(.failure(Self.notConnected))
        }
    }

    static let notConnected = DeviceError(.disconnected, "The device is not connected.")
}

/// Measurements to stop, and then one to start, as a device runs one at a time.
struct MeasurementOrder: Sendable {
    var stops: [MeasurementID]
    var start: (metric: Metric, duration: Duration, attempt: Int)?
}
