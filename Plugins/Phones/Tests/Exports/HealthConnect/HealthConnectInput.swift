import Foundation
import Vitals

@testable import Phones

/// Any bytes as an export of Health Connect, for the fuzzer and the tests (`ExportViolations` has the invariants).
enum HealthConnectInput {
    private static let now = Timestamp(seconds: 1_767_614_400)
    private static let file = FileManager.default.temporaryDirectory
        .appending(path: "vitals2mqtt-health-\(ProcessInfo.processInfo.processIdentifier)")

    static func result(of bytes: [UInt8], at place: URL = file) -> ExportViolations.Result {
        ExportViolations.result(of: bytes, at: place, now: now) { HealthConnectExportOptions(path: $0) }
    }
}
