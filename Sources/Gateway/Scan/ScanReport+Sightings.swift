import GatewayKit
import Vitals

/// A device that was found, with the transport that connects it.
struct Sighting: Sendable {
    var device: NearbyDevice
    var transport: any Transport.Type
}

extension ScanReport {
    /// What was found, by how sure a driver is, then by the signal; the rest is counted.
    init(_ sightings: [Sighting], drivers: [any DeviceDriver.Type], limit: Int) {
        let evaluated = sightings.map { sighting in
            let fitting = drivers.filter { $0.link == sighting.transport.link }
            let claims = fitting.compactMap { driver in
                driver.recognition.mark(of: sighting.device).map { (driver: driver.name, mark: $0) }
            }.sorted { ($0.mark, $0.driver) < ($1.mark, $1.driver) }
            return (sighting: sighting, claims: claims)
        }.sorted { first, second in
            let (one, two) = (first.claims.first?.mark.rawValue ?? .max, second.claims.first?.mark.rawValue ?? .max)
            if one != two { return one < two }
            let signals = (
                first.sighting.device.signalStrength ?? .min, second.sighting.device.signalStrength ?? .min
            )
            return signals.0 == signals.1
                ? first.sighting.device.address < second.sighting.device.address : signals.0 > signals.1
        }
        self.init(
            devices: evaluated.prefix(limit).map { Device($0.sighting, claims: $0.claims) },
            skipped: max(0, evaluated.count - limit))
    }
}

extension ScanReport.Device {
    /// The most services that are listed; a device that is connected may have many.
    private static let services = 32

    fileprivate init(_ sighting: Sighting, claims: [(driver: String, mark: Recognition.Mark)]) {
        let device = sighting.device
        self.init(
            address: device.address, name: device.name, services: device.services.prefix(Self.services).map(\.shortest),
            signalStrength: device.signalStrength, isConnected: device.isConnected, device: device.device,
            claims: claims.map { ScanReport.Claim($0.driver, by: $0.mark == .name ? .name : .services) },
            transport: [ScanReport.Option("type", sighting.transport.name)]
                + device.options.map { ScanReport.Option($0.key, $0.value) },
            note: device.note)
    }
}
