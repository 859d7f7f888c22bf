import JSON
import Vitals

/// The form of a record on disk. Times are packed as the distance from the one before, so that a heart rate takes about
/// ten bytes.
extension JournalRecord {
    /// The first byte of each record. Another one comes from a newer program.
    private static let version: UInt64 = 1
    /// A value is kept as a whole number of these parts where that is exact.
    private static let fraction = 1000.0
    /// The greatest number of such parts: below it a `Double` is exact.
    private static let maximumParts = 1e15

    var packed: [UInt8] {
        var writer = PackedWriter()
        var time: Int64 = 0
        writer.append(Self.version)
        counters.pack(into: &writer)
        writer.append(UInt64(items.count))
        for item in items { item.pack(into: &writer, &time) }
        writer.append(UInt64(messages.count))
        for message in messages { message.pack(into: &writer, &time) }
        writer.append(UInt64(marks.count))
        for mark in marks { mark.pack(into: &writer, &time) }
        return writer.bytes
    }

    /// - Throws: `StoreError` with code `corrupt` if `packed` has not made the bytes.
    init(packed bytes: [UInt8]) throws {
        var reader = PackedReader(bytes)
        var time: Int64 = 0
        guard try reader.number() == Self.version else { throw JSONValue.isDamaged }
        counters = try Counters(&reader)
        for _ in 0..<(try reader.count()) { items.append(try Item(&reader, &time)) }
        for _ in 0..<(try reader.count()) { messages.append(try Message(&reader, &time)) }
        for _ in 0..<(try reader.count()) { marks.append(try Mark(&reader, &time)) }
    }

    /// Packs an optional number that is not negative.
    fileprivate static func shifted(_ number: Int?) -> UInt64 { number.map { UInt64(bitPattern: Int64($0)) &+ 1 } ?? 0 }

    fileprivate static func unshifted(_ number: UInt64) -> Int? {
        number == 0 ? nil : Int(truncatingIfNeeded: Int64(bitPattern: number &- 1))
    }

    fileprivate static func parts(_ value: Double?) -> Int64? {
        guard let value, abs(value) * fraction < maximumParts else { return nil }
        let parts = (value * fraction).rounded()
        return parts / fraction == value && !(value == 0 && value.sign == .minus) ? Int64(parts) : nil
    }

    fileprivate static func value(_ parts: Int64) -> Double { Double(parts) / fraction }
}

extension JournalRecord.Item {
    private struct Flags: OptionSet {
        var rawValue: UInt64
        static let userInitiated = Flags(rawValue: 1)
        static let fields = Flags(rawValue: 2)
        static let exerciseKnown = Flags(rawValue: 4)
        static let exercise = Flags(rawValue: 8)
        static let value = Flags(rawValue: 16)
        static let wholeParts = Flags(rawValue: 32)
        static let rare = Flags(rawValue: 64)
    }

    fileprivate func pack(into writer: inout PackedWriter, _ time: inout Int64) {
        var flags: Flags = []
        let parts = JournalRecord.parts(value)
        let isRare = kind != 0 || user != nil || deviceRevision != nil || revision != 1
        if isUserInitiated { flags.insert(.userInitiated) }
        if fields != nil { flags.insert(.fields) }
        if isExercise != nil { flags.insert(.exerciseKnown) }
        if isExercise == true { flags.insert(.exercise) }
        if value != nil { flags.insert(.value) }
        if parts != nil { flags.insert(.wholeParts) }
        if isRare { flags.insert(.rare) }
        writer.append(flags.rawValue)
        writer.append(UInt64(bitPattern: series))
        writer.append(signed: start &- time)
        time = start
        writer.append(UInt64(bitPattern: duration))
        writer.append(signed: receivedAt &- start)
        if let parts {
            writer.append(signed: parts)
        } else if let value {
            writer.append(value.bitPattern)
        }
        if let fields { writer.append(fields) }
        guard isRare else { return }
        writer.append(UInt64(bitPattern: kind))
        writer.append(JournalRecord.shifted(user))
        writer.append(UInt64(bitPattern: Int64(revision)))
        writer.append(JournalRecord.shifted(deviceRevision))
    }

    fileprivate init(_ reader: inout PackedReader, _ time: inout Int64) throws {
        let flags = Flags(rawValue: try reader.number())
        series = Int64(bitPattern: try reader.number())
        start = time &+ (try reader.signed())
        time = start
        duration = Int64(bitPattern: try reader.number())
        receivedAt = start &+ (try reader.signed())
        isUserInitiated = flags.contains(.userInitiated)
        isExercise = flags.contains(.exerciseKnown) ? flags.contains(.exercise) : nil
        if flags.contains(.wholeParts) {
            value = JournalRecord.value(try reader.signed())
        } else if flags.contains(.value) {
            value = Double(bitPattern: try reader.number())
        }
        if flags.contains(.fields) { fields = try reader.run() }
        (kind, revision) = (0, 1)
        guard flags.contains(.rare) else { return }
        kind = Int64(bitPattern: try reader.number())
        user = JournalRecord.unshifted(try reader.number())
        revision = Int(truncatingIfNeeded: Int64(bitPattern: try reader.number()))
        deviceRevision = JournalRecord.unshifted(try reader.number())
    }
}

extension JournalRecord.Message {
    fileprivate func pack(into writer: inout PackedWriter, _ time: inout Int64) {
        writer.append(UInt64(lane.rawValue) << 1 | (isHistorical ? 1 : 0))
        for number in [sequence, device, series] { writer.append(UInt64(bitPattern: number)) }
        writer.append(Array(source.rawValue.utf8))
        writer.append(JournalRecord.shifted(user))
        writer.append(UInt64(samples))
        writer.append(signed: madeAt &- time)
        time = madeAt
        writer.append(body)
    }

    fileprivate init(_ reader: inout PackedReader, _ time: inout Int64) throws {
        let head = try reader.number()
        guard let lane = Lane(rawValue: Int(truncatingIfNeeded: head >> 1)) else { throw JSONValue.isDamaged }
        self.lane = lane
        isHistorical = head & 1 == 1
        sequence = Int64(bitPattern: try reader.number())
        device = Int64(bitPattern: try reader.number())
        series = Int64(bitPattern: try reader.number())
        guard let source = SampleSource(rawValue: String(decoding: try reader.run(), as: UTF8.self)) else {
            throw JSONValue.isDamaged
        }
        self.source = source
        user = JournalRecord.unshifted(try reader.number())
        samples = Int(truncatingIfNeeded: try reader.number())
        madeAt = time &+ (try reader.signed())
        time = madeAt
        body = try reader.run()
    }
}

extension JournalRecord.Mark {
    fileprivate func pack(into writer: inout PackedWriter, _ time: inout Int64) {
        writer.append(UInt64(bitPattern: series))
        let isInitiated = latest?.isUserInitiated ?? false
        writer.append((highWater == nil ? 0 : 1) | (latest == nil ? 0 : 2) | (isInitiated ? 4 : 0))
        if let highWater {
            writer.append(signed: highWater &- time)
            time = highWater
        }
        if let latest {
            writer.append(signed: latest.start.milliseconds &- time)
            time = latest.start.milliseconds
            writer.append(UInt64(bitPattern: latest.duration))
        }
    }

    fileprivate init(_ reader: inout PackedReader, _ time: inout Int64) throws {
        series = Int64(bitPattern: try reader.number())
        let flags = try reader.number()
        if flags & 1 != 0 {
            time &+= try reader.signed()
            highWater = time
        }
        if flags & 2 != 0 {
            time &+= try reader.signed()
            let end = time &+ Int64(bitPattern: try reader.number())
            latest = SampleKey(
                start: Timestamp(milliseconds: time), end: Timestamp(milliseconds: end), isUserInitiated: flags & 4 != 0
            )
        }
    }
}
