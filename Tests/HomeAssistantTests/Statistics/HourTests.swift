import HomeAssistant
import HomeAssistantStatistics
import Testing
import Vitals

/// Hours worked out by hand.
@Suite struct HourTests {
    private let berlin: LocalCalendar

    init() throws { berlin = try #require(LocalCalendar(identifier: "Europe/Berlin")) }

    @Test func `an hour's mean is the mean of its five-minute means`() {
        var hours = MeasuredHours()
        let start = time("2026-11-18T10:00:00Z")
        // A burst in the first five minutes (mean 120), one value at 10:20 (60), one at 10:59:59 (66).
        for (second, value) in [(0, 110.0), (1, 120), (299, 130), (1200, 60), (3599, 66)] {
            hours.add(Observation(at: start + .seconds(second), value))
        }
        // The extreme of the hour repeats another value, and counts in no mean.
        hours.add(Observation(at: start + .seconds(30), 140, isExtreme: true))
        hours.add(Observation(at: start + .hours(1), 70))
        #expect(
            hours.statistics == [
                HourlyStatistic(hour: Hour(of: start), content: .measured(mean: 82, lowest: 60, highest: 140)),
                HourlyStatistic(
                    hour: Hour(of: start + .hours(1)), content: .measured(mean: 70, lowest: 70, highest: 70)),
            ])
    }

    @Test func `an hour with nothing but extremes has their mean`() {
        var hours = MeasuredHours()
        let start = time("2026-11-18T10:00:00Z")
        hours.add(Observation(at: start, 50, isExtreme: true))
        hours.add(Observation(at: start, 90, isExtreme: true))
        #expect(hours.statistics.map(\.content) == [.measured(mean: 70, lowest: 50, highest: 90)])
    }

    /// The counts and sums of hours from a text of moments, ten steps at each.
    private func counted(_ moments: [String], from first: String, through last: String) -> [(Double, Double, String)] {
        var hours = CountedHours(
            from: SumAnchor(at: Hour(of: time(first)).start, sum: 100), calendar: berlin)
        for moment in moments { hours.add(Observation(at: time(moment), 10)) }
        return hours.statistics(in: Hour(of: time(first))...Hour(of: time(last))).map { statistic in
            guard case .counted(let state, let sum, let since) = statistic.content else { return (0, 0, "") }
            return (state, sum, since.description)
        }
    }

    @Test func `a count begins again at local midnight, and its sum goes on`() {
        // Berlin's midnight is 23:00 in UTC.
        let hours = counted(
            ["2026-11-18T21:59:00Z", "2026-11-18T22:00:00Z", "2026-11-18T22:59:00Z", "2026-11-18T23:00:00Z"],
            from: "2026-11-18T22:00:00Z", through: "2026-11-19T00:00:00Z")
        #expect(hours.map(\.0) == [30, 10, 10])
        #expect(hours.map(\.1) == [120, 130, 130])
        #expect(
            hours.map(\.2) == [
                "2026-11-17T23:00:00.000Z", "2026-11-18T23:00:00.000Z", "2026-11-18T23:00:00.000Z",
            ])
    }

    @Test(arguments: [
        // Summer time begins: the day has 23 hours and ends at 22:00 in UTC.
        ("2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z", 23),
        // It ends: the day has 25 hours and begins at 22:00 in UTC.
        ("2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z", 25),
    ])
    func `a day of another length has as many hours`(begin: String, end: String, length: Int) {
        let moments = (0...length).map { (time(begin) + .hours($0)).description }
        let hours = counted(moments, from: begin, through: end)
        #expect(hours.map(\.0) == (1...length).map { Double($0 * 10) } + [10])
        #expect(hours.map(\.1) == (1...length + 1).map { Double(100 + $0 * 10) })
        #expect(Set(hours.dropLast().map(\.2)) == [time(begin).description])
        #expect(hours.last?.2 == time(end).description)
    }

    @Test func `a zone with half an hour has its midnight within an hour`() throws {
        let kolkata = try #require(LocalCalendar(identifier: "Asia/Kolkata"))
        let first = Hour(of: time("2026-11-18T18:00:00Z"))
        var hours = CountedHours(from: SumAnchor(at: first.start), calendar: kolkata)
        hours.add(Observation(at: time("2026-11-18T18:15:00Z"), 7))
        hours.add(Observation(at: time("2026-11-18T18:30:00Z"), 5))
        #expect(
            hours.statistics(in: first...first).map(\.content) == [
                .counted(state: 5, sum: 12, since: time("2026-11-18T18:30:00Z"))
            ])
        #expect(hours.sum(at: time("2026-11-18T18:30:00Z")) == 7)
    }

    @Test func `a night is shown from its end to the end of its day`() throws {
        let sensor = try #require(StatisticSensor.all(of: .sleep).first)
        // Eight hours until 07:00 local time, and a nap of one hour until 15:00.
        let observations = [
            Observation(at: time("2026-11-18T06:00:00Z"), 480), Observation(at: time("2026-11-18T14:00:00Z"), 60),
        ]
        let hours = sensor.measured(
            observations, in: Hour(of: time("2026-11-18T00:00:00Z"))...Hour(of: time("2026-11-19T10:00:00Z")),
            calendar: berlin)
        #expect(hours.count == 17)
        #expect(hours.first?.hour == Hour(of: time("2026-11-18T06:00:00Z")))
        #expect(hours.first?.content == .measured(mean: 480, lowest: 480, highest: 480))
        #expect(hours.last?.hour == Hour(of: time("2026-11-18T22:00:00Z")))
        #expect(hours.last?.content == .measured(mean: 540, lowest: 540, highest: 540))
    }

    @Test(arguments: [
        ("°C", "°F", 37.0, 98.6), ("kg", "lb", 100, 220.462_262), ("m", "ft", 304.8, 1_000), ("min", "h", 90, 1.5),
        ("mmHg", "kPa", 100, 13.332_239), ("kcal", "kWh", 3_600, 4.184), ("m", "in", 1, 39.370_079),
        ("m", "mm", 2, 2_000), ("m", "nmi", 1_852, 1), ("kcal", "J", 2, 8_368), ("kcal", "GJ", 1e6, 4.184),
        ("kcal", "MWh", 3.6e6, 4.184), ("kcal", "Gcal", 1e6, 1), ("kg", "oz", 1, 35.273_962),
        ("mmHg", "Pa", 1, 133.322_387), ("mmHg", "mbar", 100, 133.322_387), ("mmHg", "bar", 1_000, 1.333_224),
        ("mmHg", "inHg", 25.4, 1), ("mg/dL", "mmol/L", 180.16, 10),
        ("mL", "L", 250, 0.25), ("mL", "fl. oz.", 1_000, 33.814_023), ("mL", "gal", 3_785.411_784, 1),
        ("cm", "in", 177.8, 70), ("cm", "ft", 182.88, 6), ("cm", "m", 180, 1.8), ("h", "min", 2, 120),
    ])
    func `numbers are converted to the unit of the statistics`(from: String, to: String, number: Double, other: Double)
        throws
    {
        let conversion = try #require(UnitConversion(from: from, to: to))
        #expect(abs(conversion(number) - other) < 1e-5)
    }

    @Test func `between units of other kinds there is no conversion`() {
        #expect(UnitConversion(from: "bpm", to: "Hz") == nil)
        #expect(UnitConversion(from: nil, to: "%") == nil)
        #expect(UnitConversion(from: nil, to: nil)?(5) == 5)
    }

    @Test(arguments: [
        ("http://homeassistant.local:8123", "homeassistant.local", 8123, false, "/api/websocket"),
        ("https://ha.example/home/", "ha.example", 443, true, "/home/api/websocket"),
        ("http://[::1]:8123/", "::1", 8123, false, "/api/websocket"),
    ])
    func `an address is one that a browser shows`(url: String, host: String, port: Int, isTLS: Bool, path: String)
        throws
    {
        let address = try #require(HomeAssistantAddress(url: url))
        #expect((address.host, address.port) == (host, port))
        #expect((address.isTLS, address.path) == (isTLS, path))
    }

    @Test(arguments: [
        "homeassistant.local", "ws://x", "http://", "http://a:0", "http://a:65536", "http://user@a", "http://a b",
        "http://[x]", "http://a/?q",
    ])
    func `what is no such address is refused`(url: String) {
        #expect(HomeAssistantAddress(url: url) == nil)
    }

    @Test(arguments: [
        ("http://127.0.0.1", true), ("http://127.8.9.1", true), ("http://localhost", true), ("http://[::1]", true),
        ("http://127.example.org", false), ("http://127.0.0.1.example.org", false), ("http://127.0.0", false),
        ("http://128.0.0.1", false), ("http://127.0.0.256", false),
    ])
    func `only an address of this machine is safe from tapping`(url: String, isLoopback: Bool) throws {
        #expect(try #require(HomeAssistantAddress(url: url)).isLoopback == isLoopback)
    }

    /// A row of Home Assistant: the hour after the first one, with 50 of the day's count, and a sum of 150.
    private func row(state: Double?) -> StatisticRow {
        StatisticRow(
            start: time("2026-11-18T10:00:00Z"), state: state, sum: 150,
            lastReset: state == nil ? nil : time("2026-11-17T23:00:00Z"))
    }

    @Test func `the sum at the last reset is what decides, also if the row shows less than was counted`() throws {
        let anchor = try #require(SumAnchor(row(state: 50), samplesSince: nil))
        #expect(anchor.sum == 100)
        var hours = CountedHours(from: anchor, calendar: berlin)
        // 20 more than the row shows came before its end, and 30 in the hour after it.
        for (moment, number) in [("09:00", 50.0), ("10:45", 20), ("11:15", 30)] {
            hours.add(Observation(at: time("2026-11-18T\(moment):00Z"), number))
        }
        let late = Hour(of: time("2026-11-18T13:00:00Z"))
        #expect(hours.beginning(before: late, precision: 1) == Hour(of: time("2026-11-18T10:00:00Z")))
        #expect(
            hours.statistics(in: late...late).first?.content
                == .counted(state: 100, sum: 200, since: time("2026-11-17T23:00:00Z")))
        // Without a state nothing is known but the row's own sum.
        let plain = try #require(SumAnchor(row(state: nil), samplesSince: nil))
        #expect((plain.moment, plain.sum) == (time("2026-11-18T11:00:00Z"), 150))
        // Neither if samples of its day may be deleted.
        let old = try #require(SumAnchor(row(state: 50), samplesSince: time("2026-11-18T05:00:00Z")))
        #expect((old.moment, old.sum) == (time("2026-11-18T11:00:00Z"), 150))
    }
}
