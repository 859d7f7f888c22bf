import GatewayKit
import Vitals

@testable import O2Ring

/// What must hold for the readers of a ring's bytes, for any bytes. The fuzzer checks it with endless inputs, the tests with changed ones.
enum OxiInput {
    /// What is wrong after these bytes: the first one chooses the reader, the rest is what a ring sends. A trap is an error of its own.
    static func issues(in bytes: [UInt8]) -> [String] {
        guard let choice = bytes.first, let calendar = LocalCalendar(identifier: "Europe/Berlin") else { return [] }
        let content = Array(bytes.dropFirst())
        switch choice {
        case 0:
            guard let file = try? OxiFile(content) else { return [] }
            let end = Timestamp(seconds: 300_000_000_000)
            let samples = [Metric.heartRate, .bloodOxygen].flatMap {
                file.samples(of: $0, in: calendar, from: Timestamp(seconds: 0), to: end)
            }
            return samples.filter { !($0.value ?? .nan).isFinite }.map { "\($0) has no number" }
                + (samples.count <= 2 * file.records.count ? [] : ["too many samples"])
        case 1:
            guard let values = try? OxiValues(bytes: content) else { return [] }
            return (0...100).contains(values.charge) && (values.oxygen ?? 10) >= 10 ? [] : ["\(values)"]
        case 2:
            guard let information = try? OxiInformation(content) else { return [] }
            _ = (information.time?.moment(in: calendar), information.charge, information.isCharging)
            for metric in O2Alarm.metrics { _ = try? O2Alarm(of: metric, in: information)?.configuration() }
            return information.files.count <= OxiInformation.mostFiles ? [] : ["too many files"]
        default:
            var assembler = OxiReplyAssembler()
            var length = 0
            for start in stride(from: 0, to: content.count, by: 20) {
                let replies = assembler.append(Array(content[start..<min(start + 20, content.count)]))
                length += replies.reduce(0) { $0 + $1.content.count + 8 }
            }
            return length + assembler.passed <= content.count ? [] : ["\(length) bytes of \(content.count)"]
        }
    }
}
