import GatewayKit
import Vitals

/// A request to the ring (sources: tahnok/colmi_r02_client; crosser/bluering; facts of Gadgetbridge).
enum RingRequest {
    static let time: UInt8 = 0x01
    static let battery: UInt8 = 0x03
    static let heartRateLog: UInt8 = 0x15
    static let heartRateSetting: UInt8 = 0x16
    static let oxygenSetting: UInt8 = 0x2c
    static let stressSetting: UInt8 = 0x36
    static let stressLog: UInt8 = 0x37
    static let temperatureSetting: UInt8 = 0x3a
    static let stepLog: UInt8 = 0x43
    static let measure: UInt8 = 0x69
    static let stop: UInt8 = 0x6a
    static let notification: UInt8 = 0x73

    /// Sets the clock. The last byte is the language, English.
    /// - Throws: a year that two digits cannot hold.
    static func time(_ now: Timestamp, _ zone: RingZone) throws(FormatError) -> RingPacket {
        RingPacket(time, try zone.digits(of: now) + [1])
    }

    /// The heart rates of the day to which this second of the ring's clock belongs.
    static func heartRates(of day: LocalDay) -> RingPacket {
        let second = UInt32(clamping: day.number * 86_400)
        return RingPacket(heartRateLog, (0..<4).map { UInt8(truncatingIfNeeded: second >> (8 * $0)) })
    }

    static func stress(daysAgo: Int) -> RingPacket { RingPacket(stressLog, [UInt8(clamping: daysAgo)]) }

    /// The steps of all 96 quarters of a day.
    static func steps(daysAgo: Int) -> RingPacket {
        RingPacket(stepLog, [UInt8(clamping: daysAgo), 0x0f, 0x00, 0x5f, 0x01])
    }

    /// Starts a measurement, or resumes one that has become silent.
    static func measure(_ kind: UInt8, continues: Bool = false) -> RingPacket {
        RingPacket(measure, [kind, continues ? 3 : 1])
    }

    static func stop(_ kind: UInt8) -> RingPacket { RingPacket(stop, [kind, 0, 0]) }
}
