import Foundation
import GatewayKit
import Logging
import TestSupport
import Vitals

@testable import Phones

/// A phone in a test: its documents, and what became of them.
enum Phone {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent()

    /// A document of `Fixtures`.
    static func document(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: folder.appending(path: "Fixtures/\(name)")))
    }

    static let berlin = LocalCalendar(identifier: "Europe/Berlin") ?? LocalCalendar(timeZone: .gmt)

    /// All records of a document.
    static func records<App: PhoneApp>(
        _ document: [UInt8], of app: App.Type, calendar: LocalCalendar = berlin, source: String? = nil,
        order: SourceOrder = SourceOrder()
    ) throws -> (samples: [Sample], skipped: [String: Int], warnings: [DeviceAlert]) {
        var stream = try App.records(of: document, calendar: calendar, source: source, order: order)
        var samples: [Sample] = []
        var skipped: [String: Int] = [:]
        var warnings: [DeviceAlert] = []
        while let record = try stream.next() {
            switch record {
            case .sample(let sample): samples.append(sample)
            case .nothing(_, let reason): if let reason { skipped[reason, default: 0] += 1 }
            case .alert(let alert): warnings.append(alert)
            case .battery: break
            case .refused(let member, let reason): skipped["\(member): \(reason)", default: 0] += 1
            case .skipped(let reason): skipped[reason, default: 0] += 1
            }
        }
        return (samples, skipped, warnings)
    }

    /// What of a document goes to the store: samples, and what only corrects.
    static func stored<App: PhoneApp>(_ text: String, of app: App.Type) throws -> [Sample] {
        var stream = try App.records(of: Array(text.utf8), calendar: berlin, source: nil)
        var samples: [Sample] = []
        while let record = try stream.next() {
            switch record {
            case .sample(let sample), .nothing(let sample, _): samples.append(sample)
            default: break
            }
        }
        return samples
    }

    /// A moment, `2026-01-05T12:00:00Z`.
    static func at(_ text: String) -> Timestamp { Timestamp(rfc3339: text) ?? Timestamp(seconds: 0) }

    static func context(clock: GatewayClock, logger: Logger = Logger(label: "test")) throws -> SessionContext {
        guard let device = DeviceID("phone") else { throw CocoaError(.coderInvalidValue) }
        return SessionContext(
            device: device, gateway: (name: "test", version: "0"), calendar: berlin, clock: clock,
            logger: logger)
    }
}
