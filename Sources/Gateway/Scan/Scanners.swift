import Concurrency
package import GatewayKit
import Synchronization
package import Vitals

/// The services of plugins that can scan for devices in reach, and the drivers that recognise what they find.
///
/// A service that devices use is asked as it is. Another one is opened for the time of the scan.
package final class Scanners: Sendable {
    /// The most scans at a time: each keeps what it hears, and people start few.
    package static let atOnce = 4
    /// The most devices of an answer. In a block of flats some hundred advertise; those with a driver and the nearest come first.
    package static let devices = 200

    private struct State {
        var setups: [ServiceSetup] = []
        var drivers: [any DeviceDriver.Type] = []
        var running = 0
    }
    private let state = Mutex(State())
    /// Lets one scan at a time open what no device uses.
    private let opening = AsyncMutex()

    package init() {}

    /// Scans with these services from now on, also those that no device uses.
    package func replace(with setups: [ServiceSetup], drivers: [any DeviceDriver.Type]) {
        state.withLock { ($0.setups, $0.drivers) = (setups, drivers) }
    }

    /// Scans for devices with all services.
    /// - Parameters:
    ///   - services: those that are open.
    ///   - runs: whether the service of a plugin is kept open for devices.
    /// - Returns: the answer of the command `scan`.
    package func scan(
        for duration: Duration, with services: RunningServices, runs: @escaping @Sendable (String) async -> Bool
    ) async -> Answer {
        guard let (setups, drivers) = begin() else {
            return Answer(
                .rejected, code: .busy, message: "\(Self.atOnce) scans run already; try again when they have ended.")
        }
        defer { state.withLock { $0.running -= 1 } }
        guard !setups.isEmpty else {
            return Answer(
                .rejected, code: .unsupported,
                message:
                    "No plugin of this program can scan for devices. The one for Bluetooth is BlueZ, which a build with "
                    + "--disable-default-traits excludes.")
        }
        var sightings: [Sighting] = []
        var problems: [(plugin: String, error: LinkError)] = []
        await withTaskGroup(of: (String, Result<[Sighting], LinkError>).self) { group in
            for setup in setups {
                group.addTask {
                    let isKept = await runs(setup.name)
                    return (setup.name, await self.scan(setup, isKept: isKept, for: duration, with: services))
                }
            }
            for await (name, result) in group {
                switch result {
                case .success(let found): sightings += found
                case .failure(let error): problems.append((name, error))
                }
            }
        }
        problems.sort { $0.plugin < $1.plugin }
        if problems.count == setups.count, let first = problems.first {
            return Answer(
                .failed, code: first.error.code == .timeout ? .timeout : .offline,
                message: problems.map(\.error.message).joined(separator: " "))
        }
        var report = ScanReport(sightings, drivers: drivers, limit: Self.devices)
        report.problems = problems.map { ScanReport.Problem(plugin: $0.plugin, message: $0.error.message) }
        return Answer(.done, data: .nearby(report))
    }

    private func begin() -> ([ServiceSetup], [any DeviceDriver.Type])? {
        state.withLock { state in
            guard state.running < Self.atOnce else { return nil }
            state.running += 1
            return (state.setups, state.drivers)
        }
    }

    private func scan(
        _ setup: ServiceSetup, isKept: Bool, for duration: Duration, with services: RunningServices
    ) async -> Result<[Sighting], LinkError> {
        guard let service = setup.service as? any ScanningService else { return .success([]) }
        let found = Mutex<[NearbyDevice]>([])
        do {
            if isKept {
                try await Self.search(services, like: service, for: duration) { devices in
                    found.withLock { $0 = devices }
                }
            } else {
                try await opening.withCancellableLock {
                    try await setup.opener {
                        let devices = try await service.scan(for: duration)
                        found.withLock { $0 = devices }
                    }
                }
            }
        } catch let error as LinkError {
            return .failure(error)
        } catch is CancellationError {
            return .failure(LinkError(.cancelled, "The scan was cancelled, since the gateway stops."))
        } catch {
            return .failure(LinkError(.unreachable, "\(error)"))
        }
        let transport = type(of: service).transport
        return .success(found.withLock { $0 }.map { Sighting(device: $0, transport: transport) })
    }

    /// Scans with the open service of the same type.
    private static func search<Service: ScanningService>(
        _ services: RunningServices, like service: Service, for duration: Duration,
        _ found: @escaping @Sendable ([NearbyDevice]) -> Void
    ) async throws {
        try await services.with(Service.self) { found(try await $0.scan(for: duration)) }
    }
}
