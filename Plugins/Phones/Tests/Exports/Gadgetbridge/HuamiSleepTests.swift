import Testing
import Vitals

@testable import Phones

/// The record of a night as Huami and Zepp OS keep it.
@Suite struct HuamiSleepTests {
    /// A record of 594 bytes for a night from 22:30 to 06:00 in UTC. `midnight` is the local midnight of the morning.
    struct Record {
        var bytes = [UInt8](repeating: 0, count: 594)

        init(midnight: Int64, start: Int, end: Int, stages: [(Int, Int, UInt8)], totals: [Int]) {
            put(midnight + 5 * 3600, at: 0x00, count: 4)
            put(midnight, at: 0x04, count: 4)
            put(Int64(start), at: 0x0a, count: 2)
            put(Int64(end), at: 0x0c, count: 2)
            bytes[0x54] = UInt8(stages.count)
            for (index, stage) in stages.enumerated() {
                put(Int64(stage.0), at: 0x56 + 5 * index, count: 2)
                put(Int64(stage.1), at: 0x58 + 5 * index, count: 2)
                bytes[0x5a + 5 * index] = stage.2
            }
            for (index, total) in totals.enumerated() { put(Int64(total), at: 0x24a + 2 * index, count: 2) }
        }

        private mutating func put(_ number: Int64, at place: Int, count: Int) {
            for index in 0..<count { bytes[place + index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
        }

        var sql: String { "x'" + bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + "'" }
    }

    /// Light for 60 minutes, deep for 90, REM for 30, awake for 5, light for 265: 22:30 is minute 1350 of the day before.
    static func night(_ midnight: Int64, totals: [Int] = [30, 325, 90, 5]) -> Record {
        Record(
            midnight: midnight, start: 1350, end: 1800,
            stages: [(1350, 1410, 4), (1410, 1500, 5), (1500, 1530, 8), (1530, 1535, 7), (1535, 1800, 4)],
            totals: totals)
    }

    private let phone: GadgetbridgePhone
    init() throws {
        phone = try GadgetbridgePhone()
        try phone.table("HUAMI_SLEEP_SESSION_SAMPLE", "DATA B")
    }

    @Test func `reads stages from the midnight before`() throws {
        try phone.insert(
            "HUAMI_SLEEP_SESSION_SAMPLE",
            [[(GadgetbridgePhone.midnight + 6 * 3600) * 1000, Self.night(GadgetbridgePhone.midnight).sql]])
        #expect(
            try phone.samples(.sleep).map { SleepTests.text($0) }
                == ["-90…360: L-90--30 D-30-60 R60-90 A90-95 L95-360"])
    }

    @Test func `a record that is too long to be one is counted, and the others are read`() throws {
        try phone.insert(
            "HUAMI_SLEEP_SESSION_SAMPLE",
            [
                [(GadgetbridgePhone.midnight - 86_400 + 6 * 3600) * 1000, "zeroblob(5242880)"],
                [(GadgetbridgePhone.midnight - 86_400 + 7 * 3600) * 1000, "hex(zeroblob(2621440))"],
                [(GadgetbridgePhone.midnight + 6 * 3600) * 1000, Self.night(GadgetbridgePhone.midnight).sql],
            ])
        #expect(try phone.samples(.sleep).count == 1)
        #expect(try phone.open().skippedRows["HUAMI_SLEEP_SESSION_SAMPLE"] == [.unreadable: 2])
    }

    @Test func `a night whose totals do not agree is skipped, but for the last minutes of stages`() throws {
        let day: Int64 = 86_400
        try phone.insert(
            "HUAMI_SLEEP_SESSION_SAMPLE",
            [
                [
                    (GadgetbridgePhone.midnight + 6 * 3600) * 1000,
                    Self.night(GadgetbridgePhone.midnight, totals: [30, 300, 90, 5]).sql,
                ],
                [
                    (GadgetbridgePhone.midnight + day) * 1000,
                    Self.night(GadgetbridgePhone.midnight + day, totals: [31, 327, 91, 6]).sql,
                ],
                [(GadgetbridgePhone.midnight + 2 * day) * 1000, "x'00112233'"],
                [(GadgetbridgePhone.midnight + 3 * day) * 1000, "NULL"],
            ])
        #expect(try phone.samples(.sleep).map(\.start) == [Timestamp(seconds: GadgetbridgePhone.midnight + day - 5400)])
        #expect(try phone.open().skippedRows["HUAMI_SLEEP_SESSION_SAMPLE"] == [.checkSum: 1, .unreadable: 2])
    }

    /// Every byte that decides is changed once, and the decoder neither traps nor makes a night of more than its own.
    @Test func `a damaged record is no other night`() throws {
        let record = Self.night(GadgetbridgePhone.midnight)
        let whole = try HuamiSleepBlob(record.bytes)
        for place in [0x54] + Array(0x56..<(0x56 + 25)) {
            for change in [UInt8(1), 0x80, 0xff] {
                var bytes = record.bytes
                bytes[place] ^= change
                guard let other = try? HuamiSleepBlob(bytes) else { continue }
                // A stage that moved by no more than the last minutes that some firmwares count.
                #expect(other.start == whole.start && other.end == whole.end)
                let moved = zip(other.stages, whole.stages).filter { $0 != $1 }
                #expect(other.stages.count == whole.stages.count && moved.count <= 1, "\(place) \(change)")
            }
        }
        for length in 0..<594 { #expect((try? HuamiSleepBlob(Array(record.bytes.prefix(length)))) == nil) }
    }

    @Test func `a night far from the time of its row is skipped`() throws {
        let phone = try GadgetbridgePhone()
        try phone.table("HUAMI_SLEEP_SESSION_SAMPLE", "DATA B")
        let night = Self.night(GadgetbridgePhone.midnight).sql
        try phone.insert(
            "HUAMI_SLEEP_SESSION_SAMPLE",
            [
                [(GadgetbridgePhone.midnight + 86_400) * 1000, night],
                [(GadgetbridgePhone.midnight - 3 * 86_400) * 1000, night],
            ])
        #expect(try phone.samples(.sleep).map(\.start) == [Timestamp(seconds: GadgetbridgePhone.midnight - 5400)])
        #expect(try phone.open().skippedRows["HUAMI_SLEEP_SESSION_SAMPLE"] == [.checkSum: 1])
    }

}
