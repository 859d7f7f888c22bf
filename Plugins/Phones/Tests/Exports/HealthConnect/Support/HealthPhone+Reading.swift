import Foundation
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import Phones

// What the driver makes of an export.
extension HealthPhone {
    static func context(clock: GatewayClock = .system, zone: String = "UTC") throws -> SessionContext {
        var context = SessionContext.testing(try #require(DeviceID("watch")), clock: clock)
        context.calendar = try #require(LocalCalendar(identifier: zone))
        context.services = RunningServices([ExportFolders<HealthConnectExportOptions>()])
        return context
    }

    func open(_ app: String? = nil, device: String? = nil, zone: String = "UTC") throws -> OpenExport {
        try OpenExport(
            try #require(FileStamp(of: file.path)),
            HealthConnectExportOptions(path: file.path, app: app, device: device), Self.context(zone: zone))
    }

    /// All samples of a metric, as read page by page.
    func samples(
        _ metric: Metric, _ app: String? = nil, device: String? = nil, zone: String = "UTC", limit: Int = 3
    ) throws -> [Sample] {
        try open(app, device: device, zone: zone).samples(metric, zone: zone, limit: limit)
    }

    /// A gateway in simulated time beside this phone, from noon on the day after.
    func simulate(
        app: String? = nil, zone: String = "UTC", deadline: Duration = .days(2),
        _ body: @escaping @Sendable (DriverRun) async throws -> Void
    ) throws {
        let options = HealthConnectExportOptions(path: folder.path, app: app)
        try DriverRun.run(
            start: Self.at(36), deadline: deadline,
            { simulation in
                (
                    HealthConnectExportDriver(options, in: simulation),
                    try Self.context(clock: simulation.gatewayClock, zone: zone)
                )
            }, body)
    }
}
