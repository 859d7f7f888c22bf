import GatewayKit
import GatewayTesting
import Synchronization
import Vitals

/// A scripted strap in memory: it answers requests from its records, and sends what a test orders.
final class Strap: Sendable {
    let link: ScriptedByteLink
    let records: [Sample]
    private let isSilent = Mutex(false)

    init(_ link: ScriptedByteLink, records: [Sample]) {
        self.link = link
        self.records = records
    }

    /// Stops answering.
    func fallSilent() { isSilent.withLock { $0 = true } }

    func send(_ lines: [String]) async { try? await link.write(Array(lines.map { "\($0)\n" }.joined().utf8)) }

    /// Answers requests until the link ends.
    func run() async {
        var waiting: [UInt8] = []
        while let bytes = try? await link.read(atMost: 4096), !bytes.isEmpty {
            waiting += bytes
            while let end = waiting.firstIndex(of: UInt8(ascii: "\n")) {
                let words = String(decoding: waiting[..<end], as: UTF8.self).split(separator: " ")
                waiting.removeSubrange(...end)
                let numbers = words.dropFirst().compactMap { Int64($0) }
                guard words.first == "R", numbers.count == 4, !isSilent.withLock({ $0 }) else { continue }
                await send(answer(to: numbers[0], from: numbers[1], to: numbers[2], limit: Int(numbers[3])))
            }
        }
    }

    private func answer(to request: Int64, from: Int64, to: Int64, limit: Int) -> [String] {
        let wanted = records.filter { $0.start >= Timestamp(seconds: from) && $0.start < Timestamp(seconds: to) }
        return wanted.prefix(limit).map { record in
            "H \(request) \(record.start.milliseconds / 1000) \(Int(record.value ?? 0))"
        } + ["E \(request)"]
    }
}
