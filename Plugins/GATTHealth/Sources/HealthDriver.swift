package import GatewayKit
import Vitals

/// Speaks with devices of any manufacturer that have the health services of the Bluetooth SIG.
package struct HealthDriver: DeviceDriver {
    package static let name = "gatt-health"
    package static let link = LinkKind.gatt
    /// The services whose values it reads; a battery or a clock alone makes no health device.
    package static let recognition = Recognition(services: [
        Assigned.glucoseService, Assigned.thermometerService, Assigned.heartRateService, Assigned.bloodPressureService,
        Assigned.weightService, Assigned.oximeterService,
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
        guard case .gatt(let link) = link else {
            throw DeviceError(.failure, "The driver gatt-health needs a transport for Bluetooth.")
        }
        let connection = try await HealthConnection(link, options, context)
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
