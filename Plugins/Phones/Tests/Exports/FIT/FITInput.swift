import Foundation
import GatewayKit
import Vitals

@testable import Phones

/// Any bytes as a FIT file, for the fuzzer and the tests: what is damaged is refused with a reason, and what is read is possible.
enum FITInput {
    private static let file = FileManager.default.temporaryDirectory
        .appending(path: "vitals2mqtt-\(ProcessInfo.processInfo.processIdentifier).fit")

    /// Reads a file that has these bytes.
    static func issues(in bytes: [UInt8], at place: URL = file) -> [String] {
        do {
            let (samples, _) = try read(bytes, at: place)
            return samples.filter { !$0.violations.isEmpty }.map { "\($0): \($0.violations)" }
        } catch let error as ExportError {
            return error.message.isEmpty ? ["a refusal without a reason"] : []
        } catch { return ["\(error)"] }
    }

    /// The samples of a file that has these bytes, and what is known of it afterwards.
    static func read(
        _ bytes: [UInt8], _ counts: FITCounts = FITCounts(), at place: URL = file, zone: String = "UTC"
    ) throws -> (samples: [Sample], file: FITSamples) {
        try Data(bytes).write(to: place)
        defer { try? FileManager.default.removeItem(at: place) }
        guard let stamp = FileStamp(of: place.path), let calendar = LocalCalendar(identifier: zone) else {
            throw CocoaError(.fileReadUnknown)
        }
        let file = try FITFile(FITSource(stamp: stamp), FITSamples(counts, order: SourceOrder(), calendar: calendar))
        var samples: [Sample] = []
        while let more = try file.portion(7) { samples += more }
        return (samples, file.samples)
    }
}
