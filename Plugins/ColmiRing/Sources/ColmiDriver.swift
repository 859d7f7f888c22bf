package import GatewayKit
import Vitals

/// Speaks with a ring of Colmi.
package struct ColmiDriver: DeviceDriver {
    package static let name = "colmi-ring"
    package static let link = LinkKind.gatt
    /// Their own services, which not all of them advertise, and the names of the models.
    package static let recognition = Recognition(
        services: [RingCharacteristics.service, RingCharacteristics.messageService],
        namePrefixes: ["R02_", "R03_", "R06_", "R09_", "R10_", "COLMI R"])

    private let options: ColmiOptions

    package init(options: inout ConfigurationReader) { self.options = ColmiOptions(&options) }

    /// A driver with these options.
    init(_ options: ColmiOptions) { self.options = options }

    package func withSession(
        over link: Link, context: SessionContext, _ body: @Sendable (any DeviceSession) async throws -> Void
    ) async throws {
        let connection = try RingConnection(try link.bluetooth(for: Self.name), options.zone, context)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await connection.receive() }
            group.addTask { await connection.queue.requests.run() }
            group.addTask { await connection.measurement.run() }
            defer { group.cancelAll() }
            try await body(ColmiSession(connection, try await connection.open()))
        }
    }
}

/// How a ring is used.
///
/// - `utc_offset`: minutes that the ring's clock is ahead of UTC, -720 to 840, the same in summer and winter; 0 by default.
struct ColmiOptions: Sendable, Hashable {
    var zone = RingZone(offset: 0)

    init(offset: Int = 0) { zone = RingZone(offset: offset) }

    init(_ options: inout ConfigurationReader) {
        zone = RingZone(
            offset: options.integer(
                "utc_offset", in: RingZone.offsets, default: 0,
                about: "Minutes that the ring's clock is ahead of UTC, the same in summer and winter."))
    }
}
