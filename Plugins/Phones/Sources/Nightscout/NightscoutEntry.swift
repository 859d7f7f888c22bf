import GatewayKit
import JSON
import Vitals

/// An entry of an upload, as far as it is understood.
struct NightscoutEntry {
    /// The lowest value that is a glucose: a sensor of Dexcom reports its errors as numbers below (`lib/plugins/errorcodes.js` of Nightscout).
    static let lowest = 13.0

    private var isObject = false
    private var type: String?
    private var glucose: Double?
    private var fingerstick: Double?
    /// `date`, in milliseconds of Unix time, or a text.
    private var time: Timestamp?
    /// The same as a text, where there is no `date`.
    private var writtenTime: Timestamp?
    private var unit: String?
    private var isTreatment = false
    private var isStatus = false
    /// The level of the uploading phone's battery in per cent.
    private var battery: Double?
    private var isCharging: Bool?
    /// What measured, or uploads.
    private(set) var device: String?
    /// Whether it says how fast the glucose rises or falls.
    private(set) var hasTrend = false

    private enum Key {
        case type, glucose, fingerstick, time, writtenTime, unit, device, direction, treatment, status, uploader,
            battery
    }
    private static let keys = JSONWords<Key>([
        ("type", .type), ("sgv", .glucose), ("mbg", .fingerstick), ("date", .time), ("dateString", .writtenTime),
        ("sysTime", .writtenTime), ("units", .unit), ("device", .device), ("direction", .direction),
        ("eventType", .treatment), ("uploader", .uploader), ("uploaderBattery", .battery), ("pump", .status),
        ("openaps", .status), ("loop", .status),
    ])
    /// Words of `direction` that say nothing.
    private static let noTrend: Set<String> = [
        "", "none", "not computable", "not_computable", "out of range", "rate out of range",
    ]

    init(_ reader: inout JSONReader, calendar: LocalCalendar) throws(JSONError) {
        guard try reader.looseObject() else { return }
        isObject = true
        while let key = try reader.nextKey(in: Self.keys) {
            switch key {
            case .type: type = try reader.looseText()
            case .glucose: glucose = try reader.looseNumber() ?? .nan
            case .fingerstick: fingerstick = try reader.looseNumber() ?? .nan
            case .time: time = try Self.moment(&reader, calendar)
            case .writtenTime: writtenTime = try Self.moment(&reader, calendar) ?? writtenTime
            case .unit: unit = try reader.looseText()
            case .device: device = try reader.looseText()
            case .direction: hasTrend = !Self.noTrend.contains(try reader.looseText()?.lowercased() ?? "")
            case .treatment:
                isTreatment = true
                try reader.skip()
            case .status:
                isStatus = true
                try reader.skip()
            case .battery:
                isStatus = true
                battery = try reader.looseNumber()
            case .uploader: try readUploader(&reader)
            }
        }
    }

    private enum UploaderKey { case battery, isCharging, type }
    private static let uploaderKeys = JSONWords<UploaderKey>([
        ("battery", .battery), ("isCharging", .isCharging), ("type", .type), ("name", .type),
    ])

    /// Reads the battery of what uploads, unless it is that of a transmitter or a bridge, which have a type or a name of their own.
    private mutating func readUploader(_ reader: inout JSONReader) throws(JSONError) {
        isStatus = true
        guard try reader.looseObject() else { return }
        var isPhone = true
        while let key = try reader.nextKey(in: Self.uploaderKeys) {
            switch key {
            case .battery: battery = try reader.looseNumber()
            case .isCharging:
                if try reader.peek() == .bool { isCharging = try reader.bool() } else { try reader.skip() }
            case .type: isPhone = try reader.looseText() == "PHONE"
            }
        }
        if !isPhone { battery = nil }
    }

    /// Reads milliseconds of Unix time, or a time in words; `nil` for anything else.
    private static func moment(_ reader: inout JSONReader, _ calendar: LocalCalendar) throws(JSONError) -> Timestamp? {
        guard try reader.peek() == .number else {
            return try reader.looseText().flatMap { PhoneTime.moment($0, calendar: calendar) }
        }
        return try reader.looseNumber().flatMap { Int64(exactly: $0.rounded(.down)) }.map {
            Timestamp(milliseconds: $0)
        }
    }

    /// Whether it is one of an app that uploads as to Nightscout.
    var isKnown: Bool { type != nil && time != nil || glucose != nil || fingerstick != nil || isTreatment || isStatus }

    /// What recorded it. A fingerstick has a source of its own: the same phone may have both of one time.
    var source: NamedSource? {
        let name = device.flatMap { $0.isEmpty ? nil : $0 } ?? ""
        let isFingerstick = kind == "mbg"
        guard !name.isEmpty || isFingerstick else { return nil }
        return NamedSource(name: isFingerstick ? "\(name) mbg" : name, kind: .other, otherNames: [name])
    }

    /// `type`, in small letters, or what the members say.
    private var kind: String? { type?.lowercased() ?? (glucose != nil ? "sgv" : fingerstick != nil ? "mbg" : nil) }

    /// What it says.
    var record: Record {
        if isTreatment { return .leftOut("a treatment") }
        switch kind {
        case "sgv": return value(glucose, member: "sgv", specimen: "interstitial_fluid")
        case "mbg": return value(fingerstick, member: "mbg", specimen: "capillary_blood")
        case "cal": return .leftOut("a calibration")
        case "hr-bpm", "steps-total", "motion-class": return .leftOut("an activity of the type \(kind ?? "")")
        case _ where isStatus: return status
        case let kind?: return .skipped("an entry of the type \(kind.quoted)")
        case nil: return isObject ? .skipped("an entry without a type") : .noObject(in: "the upload")
        }
    }

    private var status: Record {
        guard let battery else { return .leftOut("the status of a device") }
        guard (0...100).contains(battery) else { return .skipped("a battery level that is not from 0 to 100 %") }
        return .battery(percent: battery, isCharging: isCharging)
    }

    private func value(_ number: Double?, member: String, specimen: String) -> Record {
        guard let number, number.isFinite else { return .refused(member: member, reason: "must be a number in mg/dL") }
        guard let time = time ?? writtenTime else {
            return .refused(member: "date", reason: "must be milliseconds since 1970, such as 1767614400000")
        }
        guard time >= ValueMessage.earliest else {
            return .refused(
                member: "date", reason: "is before 2001: set the phone's clock; it must be milliseconds since 1970")
        }
        guard member != "sgv" || number >= Self.lowest else {
            return .skipped("an error code of the sensor as a glucose")
        }
        guard let value = PhoneUnit.value(number, unit, of: .bloodGlucose) else {
            return .skipped("a glucose in the unit \((unit ?? "").quoted)")
        }
        return .sample(
            Sample(
                metric: .bloodGlucose, start: time, end: time, qualifiers: [.specimen: specimen], reading: .value(value)
            ))
    }
}
