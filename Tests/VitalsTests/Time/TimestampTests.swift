import Foundation
import Testing
import Vitals

@Suite struct TimestampTests {
    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
        (1_795_246_264_120, "2026-11-21T07:31:04.120Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (4_107_542_400_000, "2100-03-01T00:00:00.000Z"), (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
    ])
    func `is written in UTC with milliseconds`(milliseconds: Int64, text: String) {
        let moment = Timestamp(milliseconds: milliseconds)
        #expect(moment.description == text)
        #expect(Timestamp(rfc3339: text) == moment)
        var bytes: [UInt8] = [UInt8(ascii: "\"")]
        moment.append(to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == "\"" + text)
    }

    @Test func `is written as the nearest moment that has a text`() {
        #expect(Timestamp(milliseconds: .min).description == Timestamp.earliest.description)
        #expect(Timestamp(milliseconds: .max).description == Timestamp.latest.description)
        #expect(Timestamp.earliest.description == "0000-01-01T00:00:00.000Z")
        #expect(Timestamp.latest.description == "9999-12-31T23:59:59.999Z")
    }

    @Test(arguments: [
        ("2026-11-21T08:31:04.12+01:00", "2026-11-21T07:31:04.120Z"),
        ("2026-11-21t07:31:04z", "2026-11-21T07:31:04.000Z"),
        ("2026-11-21T07:31:04.1209999999999999999999Z", "2026-11-21T07:31:04.120Z"),
        ("2026-11-21T07:31:04.9999Z", "2026-11-21T07:31:04.999Z"),
        ("2026-11-21T00:00:00-00:00", "2026-11-21T00:00:00.000Z"),
        ("2026-01-01T05:44:59+05:45", "2025-12-31T23:59:59.000Z"),
        ("2026-11-20T23:59:00-23:59", "2026-11-21T23:58:00.000Z"),
        ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59.999Z"),
        ("2016-12-31T23:59:60.5Z", "2016-12-31T23:59:59.999Z"),
        ("2017-01-01T00:59:60+01:00", "2016-12-31T23:59:59.999Z"),
    ])
    func `is read from every form of RFC 3339`(text: String, same: String) {
        #expect(Timestamp(rfc3339: text)?.description == same)
    }

    @Test(arguments: [
        "", "2026-11-21", "2026-11-21T07:31:04", "2026-11-21 07:31:04Z", "2026-11-21T07:31Z", "2026-02-29T00:00:00Z",
        "2100-02-29T00:00:00Z", "2026-00-01T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-00T00:00:00Z",
        "2026-04-31T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00:61Z",
        "2026-01-01T12:00:60Z", "2026-01-01T23:59:60+01:00", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00+1:00",
        "2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00+01:60", "2026-01-01T00:00:00+0100", "2026-01-01T00:00:00ZZ",
        "2026-01-01T00:00:00 Z", "+026-01-01T00:00:00Z", "12026-01-01T00:00:00Z", "2026-01-01T00:00:0\u{663}Z",
        "0000-01-01T00:00:00+01:00", "9999-12-31T23:59:59-00:01",
    ])
    func `is not read from another text`(text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `goes to its text and back`(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        let range = Timestamp.earliest.milliseconds...Timestamp.latest.milliseconds
        for _ in 0..<2000 {
            let moment = Timestamp(milliseconds: .random(in: range, using: &generator))
            #expect(Timestamp(rfc3339: moment.description) == moment)
        }
    }

    @Test func `agrees with Foundation on dates`() {
        var generator = SplitMix64(seed: 4)
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        for _ in 0..<500 {
            // Between 1600 and 2400: Foundation's style uses the Gregorian calendar only after 1582.
            let seconds = Int64.random(in: -11_676_096_000..<13_569_465_600, using: &generator)
            let date = Date(timeIntervalSince1970: TimeInterval(seconds))
            #expect(Timestamp(seconds: seconds).description == date.formatted(style))
        }
    }

    @Test func `saturates instead of stopping the program`() {
        let last = Timestamp(milliseconds: .max)
        let first = Timestamp(milliseconds: .min)
        #expect(last + .seconds(1) == last)
        #expect(first - .seconds(1) == first)
        #expect(Timestamp(seconds: .max) == last)
        #expect(Timestamp(seconds: .min) == first)
        #expect(last - first == .milliseconds(Int64.max))
        #expect(first - last == .milliseconds(Int64.min))
        #expect(Duration.seconds(Int64.max).inMilliseconds == .max)
        #expect(Duration.seconds(Int64.min).inMilliseconds == .min)
    }
}
