import GatewayKit
import Vitals

@testable import ColmiRing

/// What must hold for the readers of a ring's bytes, for any bytes. The fuzzer checks it with endless inputs, the tests with changed
/// captures.
enum RingInput {
    /// What is wrong after these bytes: the first one chooses the reader, the rest is what a ring sends. A trap is an error of its own.
    static func issues(in bytes: [UInt8]) -> [String] {
        guard let choice = bytes.first else { return [] }
        let content = Array(bytes.dropFirst())
        let now = Timestamp(seconds: 1_730_412_850)
        let zone = RingZone(offset: choice & 0x80 == 0 ? 0 : 345)
        let decoder = RecordDecoder(zone: zone, asked: now)
        let today = zone.day(of: now)
        switch choice & 0x7f {
        case 0:
            var reply = DayLogReply(RingRequest.heartRateLog)
            collect(content, &reply)
            return check(decoder.heartRates(reply, today), now)
        case 1:
            var reply = DayLogReply(RingRequest.stressLog)
            collect(content, &reply)
            return check(decoder.stress(reply, today), now)
        case 2:
            var reply = StepReply()
            collect(content, &reply)
            return check(decoder.steps(reply, today, byQuarters: choice & 0x80 != 0), now)
        case 3: return decoder.oxygen(content, today: today).values.flatMap { check($0, now) }
        case 4: return decoder.temperatures(content, today: today).values.flatMap { check($0, now) }
        case 5: return decoder.sleeps(content, today: today).values.flatMap { check($0, now) }
        default: return message(content)
        }
    }

    /// Takes packets of 16 bytes, with the sums that they should have, so that inputs get past them.
    private static func collect(_ bytes: [UInt8], _ reply: inout some ReplyCollector<RingValue>) {
        for start in stride(from: 0, to: bytes.count, by: 16) {
            let content = Array(bytes[start..<min(start + 15, bytes.count)])
            guard let command = content.first else { return }
            _ = reply.collect(.packet(RingPacket(command, Array(content.dropFirst()))))
        }
    }

    private static func message(_ bytes: [UInt8]) -> [String] {
        var assembler = BigMessageAssembler()
        var length = 0
        for start in stride(from: 0, to: bytes.count, by: 20) {
            let piece = Array(bytes[start..<min(start + 20, bytes.count)])
            if let message = try? assembler.append(piece) { length += message.body.count }
        }
        return length <= bytes.count ? [] : ["\(length) bytes came of \(bytes.count)"]
    }

    private static func check(_ records: DayRecords, _ now: Timestamp) -> [String] {
        var issues: [String] = []
        for sample in records.samples {
            if sample.end > now { issues.append("\(sample) is not over") }
            if sample.start < now - .days(40) { issues.append("\(sample) is too old") }
            if let value = sample.value, !value.isFinite { issues.append("\(sample) has no number") }
            if sample.metric == .sleep, !sample.isValid { issues.append("\(sample): \(sample.violations)") }
        }
        if records.refused < 0 { issues.append("\(records.refused) are refused") }
        return issues
    }
}
