import GatewayKit
import TestSupport
import Testing
import Vitals

@testable import O2Ring

@Suite struct FormatTests {
    /// The bytes that khromov/wellue-o2ring-web-ui and home-health-hub/viatom-o2ring-ble give for them.
    @Test func `asks with the bytes of other implementations`() {
        #expect(OxiRequest(command: .information).bytes == bytes("aa 14 eb 00 00 00 00 c6"))
        #expect(OxiRequest(command: .ping).bytes == bytes("aa 15 ea 00 00 00 00 8d"))
        #expect(OxiRequest(command: .values).bytes == bytes("aa 17 e8 00 00 00 00 1b"))
        #expect(OxiRequest(command: .block).bytes == bytes("aa 04 fb 00 00 00 00 6a"))
        #expect(OxiRequest(command: .block, block: 1).bytes == bytes("aa 04 fb 01 00 00 00 7c"))
        #expect(OxiRequest(command: .close).bytes == bytes("aa 05 fa 00 00 00 00 21"))
        #expect(
            OxiRequest.open("20240101223000").bytes
                == bytes("aa 03 fc 00 00 0f 00 32 30 32 34 30 31 30 31 32 32 33 30 30 30 00 ec"))
        #expect(
            OxiRequest.configure([("SetTIME", "2026-09-28,22:30:00")]).bytes
                == bytes(
                    """
                    aa 16 e9 00 00 21 00 7b 22 53 65 74 54 49 4d 45 22 3a 22 32 30 32 36 2d 30 39 2d 32 38 2c 32 32 3a 33 30 3a 30
                    30 22 7d a3
                    """))
    }

    @Test(arguments: [1, 7, 20, 500]) func `puts replies together, and passes over what is none`(size: Int) {
        let stream =
            bytes("00 55 01 02") + ScriptedO2Ring.reply(0, 3, Array("0123456789".utf8)) + [0x55]
            + ScriptedO2Ring.reply(9, 0, [])
        var assembler = OxiReplyAssembler()
        var replies: [OxiReply] = []
        for start in stride(from: 0, to: stream.count, by: size) {
            replies += assembler.append(Array(stream[start..<min(start + size, stream.count)]))
        }
        #expect(
            replies == [
                OxiReply(status: 0, block: 3, content: Array("0123456789".utf8)),
                OxiReply(status: 9, block: 0, content: []),
            ])
        #expect(assembler.passed == 5)
    }

    @Test func `a damaged reply is none`() {
        let reply = ScriptedO2Ring.reply(0, 3, Array("0123456789".utf8))
        for position in reply.indices where ![5, 6].contains(position) {
            var damaged = reply
            damaged[position] ^= 0x04
            var assembler = OxiReplyAssembler()
            #expect(assembler.append(damaged).isEmpty)
        }
    }

    /// Captured by MackeyStingray/o2r (`o2state.py`).
    @Test func `reads captured values`() throws {
        let worn = try OxiValues(bytes: bytes("62 42 00 00 00 00 00 61 00 92 0a 01 00"))
        #expect((worn.oxygen, worn.pulse, worn.charge, worn.isCharging, worn.isWorn) == (98, 66, 97, false, true))
        let off = try OxiValues(bytes: bytes("ff ff ff 00 00 00 00 60 00 05 00 00 00"))
        #expect((off.oxygen, off.pulse, off.charge, off.isWorn) == (nil, nil, 96, false))
        let charging = try OxiValues(bytes: bytes("ff ff ff 00 00 00 00 62 01 00 00 00 00"))
        #expect(charging.isCharging)
        // khromov's example.
        let other = try OxiValues(bytes: bytes("61 3c 00 10 00 00 00 55 01 03 19 01"))
        #expect((other.oxygen, other.pulse, other.charge) == (97, 60, 85))
        #expect(throws: FormatError.self) { try OxiValues(bytes: bytes("61 3c 00 10")) }
    }

    @Test func `reads what a ring says about itself`() throws {
        let text =
            #"{"CurBAT":"75%","FileList":"[20240101223000,20240102221500]","SN":"XXXX","CurTIME":"2026-08-08,12:00:00"}"#
        let information = try OxiInformation(Array(text.utf8) + [0, 0])
        #expect(information.charge == 75)
        #expect(information.files == ["20240101223000", "20240102221500"])
        #expect(information["SN"] == "XXXX")
        #expect(information.time == LocalTime(year: 2026, month: 8, day: 8, hour: 12, minute: 0, second: 0))
        let empty = try OxiInformation(Array(#"{"FileList":""}"#.utf8))
        #expect(empty.files.isEmpty)
        #expect(throws: FormatError.self) { try OxiInformation(Array("{".utf8)) }
    }

    @Test func `of more than a thousand files the first thousand are read`() throws {
        let names = (0...1_000).map { "\(20_240_101_000_000 + $0)" }
        let text = #"{"FileList":"[\#(names.joined(separator: ","))]"}"#
        let information = try OxiInformation(Array(text.utf8))
        #expect(information.files == Array(names.prefix(1_000)))
        #expect(information.skippedFiles == 1)
    }

    @Test func `reads a recording of four and of two seconds, with and without doubled records`() throws {
        let file = try OxiFile(O2Recording(count: 10).content)
        #expect(file.interval == 4)
        #expect(file.start == LocalTime(year: 2026, month: 3, day: 10, hour: 2, minute: 0, second: 0))
        #expect(file.records.map(\.oxygen) == [90, 91, 92, 93, 94, 95, 96, nil, 98, 99])
        #expect(file.records[7].pulse == nil)
        #expect(try OxiFile(O2Recording(count: 10, interval: 2).content).interval == 2)
        var doubled = Array(O2Recording(count: 8, interval: 2).content.prefix(40))
        for _ in 0..<4 { doubled += bytes("61 48 00 03 00 61 48 00 03 00") }
        let merged = try OxiFile(doubled)
        #expect((merged.interval, merged.records.count) == (4, 4))
    }

    @Test func `a recording that does not fit to its head is not finished, and another format is unreadable`() throws {
        for recording in [
            O2Recording(duration: 17), O2Recording(size: 40), O2Recording(count: 0), O2Recording(duration: 0),
        ] {
            #expect(throws: OxiFile.Problem.unfinished) { try OxiFile(recording.content) }
        }
        #expect(throws: OxiFile.Problem.unfinished) { try OxiFile(Array(O2Recording().content.dropLast(3))) }
        #expect(throws: OxiFile.Problem.self) { try OxiFile(O2Recording(version: 5).content) }
        #expect(throws: OxiFile.Problem.self) { try OxiFile(O2Recording(start: [2026, 2, 30, 2, 0, 0]).content) }
    }

    /// Berlin: 2026-03-29 02:00 is skipped, 2026-10-25 02:00 comes twice.
    @Test(
        arguments: [
            ("20260328233000", 1_774_737_000), ("20260329023000", 1_774_746_000), ("20261024230000", 1_792_875_600),
            ("20261025023000", 1_792_888_200), ("20260701000000", 1_782_856_800),
        ])
    func `a recording begins at local time, and goes on by seconds over a change of the clocks`(
        name: String, start: Int
    ) throws {
        let calendar = try #require(LocalCalendar(identifier: "Europe/Berlin"))
        let time = try #require(LocalTime(digits: name))
        #expect(time.moment(in: calendar) == Timestamp(seconds: Int64(start)))
        var recording = O2Recording(count: 7000)
        recording.start = [0..<4, 4..<6, 6..<8, 8..<10, 10..<12, 12..<14].map {
            Int(String(Array(name)[$0])) ?? 0
        }
        let samples = try OxiFile(recording.content).samples(
            of: .heartRate, in: calendar, from: Timestamp(seconds: 0), to: Timestamp(seconds: 2_000_000_000))
        #expect(samples.first?.start == Timestamp(seconds: Int64(start)))
        #expect(samples.last?.start == Timestamp(seconds: Int64(start) + 6999 * 4))
    }
}
