package import GatewayKit
import Vitals

/// Speaks with an oximeter ring of Viatom or Wellue.
package struct O2Driver: DeviceDriver {
    package static let name = "o2ring"
    package static let link = LinkKind.gatt
    /// Their own service, and the names of the models.
    package static let recognition = Recognition(
        services: Set([O2Connection.service].compactMap(\.self)),
        namePrefixes: ["O2Ring", "SleepU", "Checkme O2", "CheckmeO2", "KidsO2"])

    private let options: O2Options

    package init(options: inout ConfigurationReader) { self.options = O2Options(&options) }

    /// A driver with these options.
    init(_ options: O2Options) { self.options = options }

    package func withSession(
        over link: Link, context: SessionContext, _ body: @Sendable (any DeviceSession) async throws -> Void
    ) async throws {
        guard case .gatt(let link) = link else {
            throw DeviceError(.failure, "The driver o2ring needs a transport for Bluetooth.")
        }
        let connection = try O2Connection(link, options, context)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await connection.receive() }
            group.addTask { await connection.queue.run() }
            defer { group.cancelAll() }
            let session = O2Session(connection, try await connection.open())
            group.addTask { await connection.readLive() }
            try await body(session)
        }
    }
}
