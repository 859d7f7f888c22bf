package import GatewayKit
import Vitals

/// Speaks with devices of any manufacturer that have the health services of the Bluetooth SIG.
package struct HealthDriver: DeviceDriver {
    package static let name = "gatt-health"
    package static let link = LinkKind.gatt
    /// The services whose values it reads; a battery or a clock alone makes no health device.
    package static let recognition = Recognition(services: [
        Assigned.glucoseService, Assigned.thermometerService, Assigned.heartRateService, Assigned.bloodPressureService,
        Assigned.weightService, Assigned.compositionService, Assigned.oximeterService,
    ])

    /// Cuffs, scales and glucose meters send their records only to a paired machine; straps send their values to every machine.
    package static let mayNeedPairing = true

    private let options: HealthOptions

    package init(options: inout ConfigurationReader) { self.options = HealthOptions(&options) }

    /// A driver with these options.
    init(_ options: HealthOptions) { self.options = options }

    package func withSession(
        over link: Link, context: SessionContext, _ body: @Sendable (any DeviceSession) async throws -> Void
    ) async throws {
        let connection = try await HealthConnection(try link.bluetooth(for: Self.name), options, context)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await connection.receive() }
            for reader in [connection.glucoseRecords, connection.oximeterRecords].compactMap({ $0 }) {
                group.addTask { await reader.run() }
            }
            defer { group.cancelAll() }
            let description: DeviceDescription
            do throws(DeviceError) { description = try await connection.open() } catch {
                // What has arrived is confirmed, so that the device may have deleted it: the session has it, and ends.
                group.cancelAll()
                guard let known = await connection.descriptionOfRest(after: error) else { throw error }
                description = known
            }
            try await body(HealthSession(connection, description))
        }
    }
}

/// The options of a device with a health service.
///
/// - `user`: the only user slot of a cuff or a scale whose records count, 0 to 254; without it all do.
/// - `variability`: whether the variability is computed from the times between heartbeats; `true` by default.
struct HealthOptions: Sendable, Hashable {
    var user: Int?
    var hasVariability = true

    /// The slots of the Bluetooth services: 255 means an unknown user.
    static let users = 0...254

    init(user: Int? = nil, hasVariability: Bool = true) {
        self.user = user
        self.hasVariability = hasVariability
    }

    init(_ options: inout ConfigurationReader) {
        user = options.optionalInteger(
            "user", in: Self.users, about: "The only user slot whose records count; without it all do.")
        hasVariability = options.flag(
            "variability", default: true,
            about: "Whether the variability is computed from the times between heartbeats.")
    }
}
