import Foundation
import GatewayKit
import GatewayTesting
import TestSupport
import Vitals

@testable import Phones

/// A gateway in simulated time, beside a phone with real files.
typealias Scenario = DriverRun

extension DriverRun {
    /// Noon after the day of the tests' rows.
    static let start = GadgetbridgePhone.at(36)

    static func run(
        with phone: GadgetbridgePhone, path: String? = nil, zone: String = "UTC", deadline: Duration = .days(2),
        log: LogRecorder = LogRecorder(), notes: DeviceNotes = DeviceNotes(),
        _ body: @escaping @Sendable (Scenario) async throws -> Void
    ) throws {
        let options = GadgetbridgeOptions(path: path ?? phone.file.path)
        try run(
            start: start, deadline: deadline,
            { simulation in
                var context = try GadgetbridgePhone.context(clock: simulation.gatewayClock, zone: zone)
                context.logger = log.logger
                context.notes = notes
                let driver = GadgetbridgeDriver(options, in: simulation)
                return (driver, context)
            }, body)
    }
}
