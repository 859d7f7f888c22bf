package import GatewayKit
import Vitals

/// Speaks with an oximeter ring of Viatom or Wellue.
package struct O2Driver: DeviceDriver {
    package static let name = "o2ring"
    package static let link = LinkKind.gatt
    /// Their own service, and the names of the models.
    package static let recognition = Recognition(
        services: [O2Connection.service], namePrefixes: ["O2Ring", "SleepU", "Checkme O2", "CheckmeO2", "KidsO2"])

    private let options: O2Options

    package init(options: inout ConfigurationReader) { self.options = O2Options(&options) }

    /// A driver with these options.
    init(_ options: O2Options) { self.options = options }

    package func withSession(
        over link: Link, context: SessionContext, _ body: @Sendable (any DeviceSession) async throws -> Void
    ) async throws {
        let connection = try O2Connection(try link.bluetooth(for: Self.name), options, context)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await connection.receive() }
            group.addTask { await connection.queue.requests.run() }
            defer { group.cancelAll() }
            let session = O2Session(connection, try await connection.open())
            group.addTask { await connection.readLive() }
            try await body(session)
        }
    }
}

/// How a ring is used.
///
/// - `live_every`: how often the present values are read, up to an hour; `0s` for never, 10 seconds by default.
struct O2Options: Sendable, Hashable {
    var liveEvery: Duration = .seconds(10)

    init(liveEvery: Duration = .seconds(10)) { self.liveEvery = liveEvery }

    init(_ options: inout ConfigurationReader) {
        liveEvery = options.duration(
            "live_every", in: .zero...(.hours(1)), default: .seconds(10),
            about: "How often the present values are read; 0s: never.")
    }
}
