import GatewayKit
import Testing
import Vitals

@testable import GATTHealth

/// Values that are worked out by hand, or are given in the public documents of the formats, where tshark has no or a wrong reader.
@Suite struct FormatTests {
    @Test(arguments: [
        (0x0072, 114.0), (0xe0a0, 1.6), (0xb05a, 0.0009), (0x2001, 100.0), (0xffff, -0.1), (0x1800, -20480.0),
    ])
    func `an SFLOAT has 4 bits of exponent and 12 of mantissa`(bits: Int, number: Double) {
        #expect(MedicalNumber(sfloat: UInt16(bits)).number == number)
    }

    @Test(arguments: [
        (0xff00_016c, 36.4), (0xff00_03dc, 98.8), (0x0000_0025, 37.0), (0xfe00_0e92, 37.3), (0xffff_ff9c, -10.0),
        (0x0200_0001, 100.0),
    ])
    func `a FLOAT has 8 bits of exponent and 24 of mantissa`(bits: Int, number: Double) {
        #expect(MedicalNumber(float: UInt32(bits)).number == number)
    }

    @Test func `five numbers are none, in both lengths`() {
        #expect(MedicalNumber(sfloat: 0x07ff) == .notANumber && MedicalNumber(float: 0x007f_ffff) == .notANumber)
        #expect(
            MedicalNumber(sfloat: 0x0800) == .notAtThisResolution
                && MedicalNumber(float: 0x0080_0000) == .notAtThisResolution)
        #expect(
            MedicalNumber(sfloat: 0x07fe) == .positiveInfinity && MedicalNumber(float: 0x007f_fffe) == .positiveInfinity
        )
        #expect(
            MedicalNumber(sfloat: 0x0802) == .negativeInfinity && MedicalNumber(float: 0x0080_0002) == .negativeInfinity
        )
        #expect(MedicalNumber(sfloat: 0x0801) == .reserved && MedicalNumber(float: 0x0080_0001) == .reserved)
        #expect(MedicalNumber.notANumber.number == nil)
    }

    @Test func `a thermometer's value with time and place`() throws {
        let value = try TemperatureMeasurement([0x06, 0x6c, 0x01, 0x00, 0xff, 0xea, 0x07, 11, 21, 3, 37, 25, 2])
        #expect(value.temperature == .value(36.4))
        #expect(value.time == DateTime(year: 2026, month: 11, day: 21, hour: 3, minute: 37, second: 25))
        #expect(value.site == .body)
        #expect(try TemperatureMeasurement([0x01, 0xdc, 0x03, 0x00, 0xff]).isFahrenheit)
    }

    @Test func `a weight in kilograms and in pounds`() throws {
        #expect(try WeightMeasurement([0x00, 0xd0, 0x3a]).kilograms == 75.28)
        // 166.00 lb
        let pounds = try #require(try WeightMeasurement([0x01, 0xd8, 0x40]).kilograms)
        #expect(abs(pounds - 75.2963) < 0.0001)
        #expect(try WeightMeasurement([0x00, 0xff, 0xff]).kilograms == nil)
    }

    @Test func `the time that a clock is set to`() {
        // 2026-11-21T02:37:25.500Z, which was a Saturday, in Berlin.
        let now = Timestamp(milliseconds: 1_795_228_645_500)
        #expect(CurrentTime(now, offset: 60).bytes == [0xea, 0x07, 11, 21, 3, 37, 25, 6, 128, 2])
        #expect(DateTime(now, offset: -180).bytes == [0xea, 0x07, 11, 20, 23, 37, 25])
        #expect(LocalTimeInformation(offset: 345).bytes == [23, 0])
        #expect(LocalTimeInformation(offset: 7).bytes == nil)
    }

    @Test func `a time without a zone is one of the calendar, and one that cannot be is none`() throws {
        let calendar = try #require(LocalCalendar(identifier: "Europe/Berlin"))
        func moment(_ year: Int, _ month: Int, _ day: Int, _ hour: Int = 12) -> Timestamp? {
            DateTime(year: year, month: month, day: day, hour: hour, minute: 0, second: 0).moment(in: calendar)
        }
        #expect(moment(2026, 7, 1) == Timestamp(seconds: 1_782_900_000))
        #expect(moment(2026, 12, 1) == Timestamp(seconds: 1_796_122_800))
        #expect(moment(2026, 2, 29) == nil && moment(0, 1, 1) == nil && moment(2026, 0, 1) == nil)
        #expect(moment(2026, 7, 1, 24) == nil && moment(2009, 12, 31) == nil)
        // The hour that comes twice is the first one.
        #expect(moment(2026, 10, 25, 2) == Timestamp(seconds: 1_792_886_400))
    }

    @Test func `requests for records and their answers`() throws {
        #expect(RecordAccess.Request.report(fromSequence: 0x1234).bytes == [1, 3, 1, 0x34, 0x12])
        #expect(try RecordAccess.Response([5, 0, 7, 0]) == .count(7))
        #expect(try RecordAccess.Response([6, 0, 1, 6]) == .done(operation: 1, .noRecords))
        #expect(throws: FormatError.self) { try RecordAccess.Response([6, 1, 1, 1]) }
        #expect(throws: FormatError.self) { try RecordAccess.Response([1, 1]) }
    }

    @Test func `a value that is cut is refused, wherever it is cut`() throws {
        let pressure: [UInt8] = [0x1e, 120, 0, 80, 0, 93, 0, 0xea, 7, 11, 21, 3, 37, 25, 72, 0, 1, 4, 0]
        for length in pressure.indices {
            #expect(throws: FormatError.self) { try BloodPressureMeasurement(Array(pressure.prefix(length))) }
        }
        #expect(throws: Never.self) { try BloodPressureMeasurement(pressure) }
    }
}
