import CZlib
import Foundation
import TestSupport
import Testing
import Vitals

@testable import Phones

/// The protocol: bytes to messages.
@Suite struct FITReaderTests {
    private let folder: Folder
    init() throws { folder = try Folder() }

    private func messages(_ bytes: [UInt8], as name: String = "a.fit", limit: Int = 100) throws -> [FITMessage] {
        var reader = FITReader(try FITBytes(FITSource(stamp: try folder.write(bytes, as: name))), limit: limit) { _ in
            true
        }
        var messages: [FITMessage] = []
        while let message = try reader.next() { messages.append(message) }
        return messages
    }

    private func refusal(_ bytes: [UInt8], as name: String = "a.fit", limit: Int = 100) -> String {
        do { return "\(try messages(bytes, as: name, limit: limit).count) messages" } catch { return "\(error)" }
    }

    /// A file written out by hand: header, definition of a record with time and heart rate in big-endian order, message, check sum.
    private static let written: [UInt8] =
        [12, 0x10, 100, 0, 22, 0, 0, 0, 0x2e, 0x46, 0x49, 0x54]
        + [0x40, 0, 1, 0, 20, 2, 253, 4, 0x86, 3, 1, 2] + [0, 0x43, 0xbd, 0xd9, 0x80, 61]

    @Test func `reads bytes that were written by hand`() throws {
        var bytes = Self.written
        bytes[4] = UInt8(bytes.count - 12)
        let sum = FITWriter.sum(bytes)
        let found = try messages(bytes + [UInt8(sum & 0xff), UInt8(sum >> 8)])
        #expect(
            found == [
                FITMessage(number: 20, time: 0x43bd_d980, fields: [253: .number(1_136_515_456), 3: .number(61)])
            ])
    }

    @Test(arguments: [12, 14, 20]) func `reads headers of each length, and both orders of bytes`(size: Int) throws {
        for isBigEndian in [false, true] {
            var writer = FITWriter()
            writer.isBigEndian = isBigEndian
            writer.add(20, at: 0x1234, [(3, .uint8, 61), (5, .uint32, 123_456)])
            var bytes = writer.file(header: min(size, 14))
            if size > 14 {
                bytes =
                    [UInt8(size)] + bytes[1..<14] + [UInt8](repeating: 9, count: size - 14)
                    + bytes[14..<bytes.count - 2]
                (bytes[12], bytes[13]) = (0, 0)
                let sum = FITWriter.sum(bytes)
                bytes += [UInt8(sum & 0xff), UInt8(sum >> 8)]
            }
            let message = try #require(try messages(bytes).first)
            #expect(message.number(FITProfile.Record.heartRate) == 61 && message.fields[5] == .number(123_456))
            #expect(message.time == UInt32(FITWriter.midnight + 0x1234))
        }
    }

    @Test func `a compressed time is within 32 seconds of the one before`() throws {
        var writer = FITWriter()
        // Its lowest five bits are 30.
        writer.add(20, at: 1_000_000_030 - FITWriter.midnight, [(3, .uint8, 60)])
        writer.define(20, [(3, .uint8, 1)], as: 1)
        for (offset, rate) in [(30, 61), (2, 62), (31, 63)] as [(UInt8, UInt8)] {
            writer.records += [0x80 | 1 << 5 | offset, rate]
        }
        #expect(
            try messages(writer.file()).map(\.time) == [1_000_000_030, 1_000_000_030, 1_000_000_034, 1_000_000_063])
    }

    @Test(
        arguments: [
            (.enumeration, [0xff], nil), (.enumeration, [4], 4), (.sint8, [0x7f], nil), (.sint8, [0xfe], -2),
            (.uint8, [0xff], nil), (.uint8, [0], 0), (.uint8z, [0], nil), (.uint8z, [0xff], 255), (.byte, [0xff], nil),
            (.sint16, [0xff, 0x7f], nil), (.sint16, [0xfe, 0xff], -2), (.uint16, [0xff, 0xff], nil),
            (.uint16z, [0, 0], nil), (.uint16, [1, 2], 513), (.sint32, [0xff, 0xff, 0xff, 0x7f], nil),
            (.sint32, [0, 0, 0, 0x80], -2_147_483_648), (.uint32, [0xff, 0xff, 0xff, 0xff], nil),
            (.uint32z, [0, 0, 0, 0], nil), (.float32, [0xff, 0xff, 0xff, 0xff], nil),
            (.float32, [0, 0, 0xc0, 0x3f], 1.5),
            (.float64, [0, 0, 0, 0, 0, 0, 0xf8, 0x3f], 1.5), (.float64, [0, 0, 0, 0, 0, 0, 0xf0, 0x7f], nil),
            (.sint64, [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], -2), (.uint64z, [0, 0, 0, 0, 0, 0, 0, 0], nil),
            (.uint64, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], nil), (.uint16, [1, 2, 3], nil),
        ] as [(FITBaseType, [UInt8], Double?)]
    ) func `each type has a pattern for no value`(type: FITBaseType, bytes: [UInt8], number: Double?) {
        #expect(type.value(of: bytes[...], isBigEndian: false) == number.map { .number($0) })
        #expect(type.value(of: bytes.reversed()[...], isBigEndian: true) == number.map { .number($0) })
    }

    @Test func `texts end with zero, and lists may have holes`() {
        #expect(FITBaseType.string.value(of: [0x61, 0x62, 0, 0x63], isBigEndian: false) == .text("ab"))
        #expect(FITBaseType.string.value(of: [0, 0x63], isBigEndian: false) == nil)
        #expect(FITBaseType.uint8.value(of: [1, 255, 3], isBigEndian: false) == .list([1, nil, 3]))
        #expect(FITBaseType.uint8.value(of: [255, 255], isBigEndian: false) == nil)
        #expect(FITBaseType(code: 0x9f) == nil && FITBaseType(code: 0x84) == .uint16 && FITBaseType(code: 4) == .uint16)
    }

    @Test func `fields of developers and unknown types are passed over`() throws {
        var writer = FITWriter()
        writer.define(20, [(253, .uint32, 4), (3, .uint8, 1)], developer: 3)
        writer.records += [0] + writer.bytes(FITWriter.midnight, 4) + [61, 1, 2, 3]
        // A type beyond all that are known.
        writer.records += [0x41, 0, 0, 20, 0, 2, 200, 2, 0x9e, 3, 1, 2, 1, 7, 7, 62]
        let rates = try messages(writer.file()).map { $0.number(FITProfile.Record.heartRate) }
        #expect(rates == [61, 62])
    }

    @Test func `files that follow each other in one are read, each with its own definitions`() throws {
        var writer = FITWriter()
        writer.add(20, at: 1, [(3, .uint8, 61)])
        #expect(try messages(writer.file() + writer.file(header: 12)).count == 2)
        var other = FITWriter()
        other.records = [0, 1, 2]
        #expect(refusal(writer.file() + other.file()).contains("no definition"))
    }

    @Test func `what is cut anywhere is refused, and so is one wrong bit anywhere`() throws {
        var writer = FITWriter()
        writer.begin()
        writer.add(20, at: 1, [(3, .uint8, 61)])
        let whole = writer.file()
        #expect(refusal(whole) == "2 messages")
        for count in 0..<whole.count { #expect(!refusal(Array(whole.prefix(count))).hasSuffix("messages"), "\(count)") }
        for place in whole.indices {
            var bytes = whole
            bytes[place] ^= 4
            #expect(!refusal(bytes).hasSuffix("messages"), "\(place)")
        }
    }

    @Test func `each damage has its message`() throws {
        var writer = FITWriter()
        writer.add(20, at: 1, [(3, .uint8, 61)])
        let whole = writer.file()
        var wrong = whole
        wrong[12] ^= 1
        #expect(refusal(wrong).contains("is damaged: the check sum of its header is wrong. Copy it again."))
        wrong = whole
        wrong[whole.count - 1] ^= 1
        #expect(refusal(wrong).contains("is damaged: its check sum is wrong. Copy it again."))
        #expect(refusal(whole.dropLast(3)).contains("ends before its time: it was cut"))
        #expect(refusal(Array("a letter, and no FIT file".utf8)).contains("is no FIT file"))
        #expect(refusal([]).contains("is no FIT file"))
        wrong = whole
        wrong[1] = 0x30
        #expect(refusal(wrong).contains("is of a newer protocol, FIT 3"))
        // The protocol allows a header without a check sum.
        #expect(refusal(writer.file(headerSum: false)) == "1 messages")
        var beyond = FITWriter()
        beyond.define(20, [(3, .uint8, 200)])
        beyond.records += [0, 1, 2]
        #expect(refusal(beyond.file()).contains("a message reaches beyond the end"))
    }

    @Test func `a file of gzip is unpacked, and damage of it is found`() throws {
        var writer = FITWriter()
        for second in 0..<40 { writer.add(20, at: Int64(second), [(3, .uint8, 61)]) }
        let packed = try Self.gzip(writer.file())
        #expect(refusal(packed, as: "a.fit.gz") == "40 messages")
        var wrong = packed
        wrong[packed.count - 6] ^= 1
        #expect(refusal(wrong, as: "a.fit.gz").contains("gzip's check sum is wrong"))
        #expect(
            refusal(packed.dropLast(20), as: "a.fit.gz").contains("is damaged")
                || refusal(packed.dropLast(20), as: "a.fit.gz").contains("cut"))
        #expect(refusal(writer.file(), as: "b.fit.gz").contains("is no file of gzip"))
    }

    @Test func `a file has limits of bytes and messages`() throws {
        let large = folder.path("large.fit")
        _ = FileManager.default.createFile(atPath: large, contents: nil)
        let handle = try #require(FileHandle(forWritingAtPath: large))
        try handle.truncate(atOffset: UInt64(FITLimits.file) + 1)
        let stamp = try #require(FileStamp(of: large))
        #expect { try FITBytes(FITSource(stamp: stamp)) } throws: { "\($0)".contains("has more than 64 MiB") }
        var writer = FITWriter()
        writer.define(20, [])
        writer.records += [UInt8](repeating: 0, count: 5)
        #expect(refusal(writer.file(), limit: 5) == "5 messages")
        #expect(refusal(writer.file(), limit: 4).contains("has more than 4 messages"))
        #expect(FITLimits.messages == 4_000_000)
    }

    private static func gzip(_ bytes: [UInt8]) throws -> [UInt8] {
        var output = [UInt8](repeating: 0, count: bytes.count + 100)
        var input = bytes
        var stream = z_stream()
        // 16 more: with the header of gzip.
        try #require(
            deflateInit2_(
                &stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
                Int32(MemoryLayout<z_stream>.size)) == Z_OK)
        defer { deflateEnd(&stream) }
        let count = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                stream.next_in = input.baseAddress
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(output.count)
                _ = deflate(&stream, Z_FINISH)
                return output.count - Int(stream.avail_out)
            }
        }
        return Array(output.prefix(count))
    }
}
