import Testing
import Vitals

@testable import Web

/// Nights, workouts and sparklines.
@Suite struct HypnogramTests {
    private let minute: Int64 = 60_000

    /// A night from 22:40 to 06:40.
    private func axis() throws -> TimeAxis {
        TimeAxis(
            .day, from: try ShownPlots.moment("2026-11-27T21:40:00Z"),
            to: try ShownPlots.moment("2026-11-28T05:40:00Z"),
            in: try ShownPlots.calendar())
    }

    private func stage(_ depth: NightDepth, _ from: Int64, _ to: Int64) throws -> Hypnogram.Stage {
        let start = try axis().from
        return Hypnogram.Stage(depth, from: start + from * minute, to: start + to * minute)
    }

    @Test func `a night has a row for each depth, with its minutes`() throws {
        let night = Hypnogram(
            "Sleep", axis: try axis(),
            stages: [try stage(.light, 0, 120), try stage(.deep, 120, 200), try stage(.rem, 230, 480)])
        let svg = night.svg(.wide)
        #expect(ShownPlots.texts(.label, in: svg).filter { !$0.contains(":") } == ["Awake", "REM", "Light", "Deep"])
        #expect(ShownPlots.texts(.value, in: svg) == ["22:40", "06:40", "0 min", "4 h 10 min", "2 h", "1 h 20 min"])
        #expect(ShownPlots.path(.deep, in: svg).count(of: "M") == 1)
        // The line joins what follows without a break.
        #expect(ShownPlots.path(.steps, in: svg).count(of: "M") == 1)
        #expect(ShownPlots.attributes("data-stages", in: svg) == ["0,120,light 120,200,deep 230,480,rem"])
        #expect(
            ShownPlots.description(of: svg)
                == "From 22:40 to 06:40, 8 h. Asleep 7 h 30 min. REM 4 h 10 min. Light 2 h. Deep 1 h 20 min.")
        #expect(
            ShownPlots.texts(.label, in: night.svg(.narrow)).filter { $0.contains(":") }
                == ["02:00", "04:00"])
    }

    @Test func `a nap without a full hour has its times, and a sleep of days has all of its stages`() throws {
        let calendar = try ShownPlots.calendar()
        let start = try ShownPlots.moment("2026-11-28T13:10:00Z")
        func svg(_ duration: Duration) throws -> String {
            let end = start + duration
            let sleep = Sleep(stages: [
                .init(.light, from: start, to: end - .minutes(10)), .init(.rem, from: end - .minutes(10), to: end),
            ])
            let sample = Sample(metric: .sleep, start: start, end: end, reading: .sleep(sleep))
            return try #require(Hypnogram("Sleep", sample, in: calendar)).svg(.narrow)
        }
        let nap = try svg(.minutes(40))
        #expect(ShownPlots.texts(.value, in: nap).prefix(2) == ["14:10", "14:50"])
        #expect(ShownPlots.attributes("data-stages", in: nap) == ["0,30,light 30,40,rem"])
        let days = try svg(.hours(50))
        #expect(ShownPlots.attributes("data-stages", in: days) == ["0,2990,light 2990,3000,rem"])
        #expect(ShownPlots.description(of: days).hasPrefix("From Saturday 14:10 to Monday 16:10, 2 days 2 h."))
    }

    @Test func `a night of totals shows how long and not when`() throws {
        let night = Hypnogram("Sleep", axis: try axis(), stages: [], untimed: [.deep: 82, .light: 240, .rem: 0])
        let svg = night.svg(.narrow)
        #expect(ShownPlots.path(.untimed, in: svg) != "")
        #expect(ShownPlots.texts(.note, in: svg) == ["how long, not when", "Minutes in all"])
        #expect(ShownPlots.texts(.value, in: svg) == ["22:40", "06:40", "8 h", "4 h", "1 h 22 min"])
        #expect(ShownPlots.path(.steps, in: svg) == "")
        #expect(ShownPlots.attributes("data-stages", in: svg) == [""])
        #expect(ShownPlots.description(of: svg).hasSuffix("The device says how long, and not when."))
    }

    @Test func `a time in bed does not look like sleep`() throws {
        let night = Hypnogram("Sleep", axis: try axis(), stages: [try stage(.inBed, 0, 480)])
        let svg = night.svg(.wide)
        #expect(ShownPlots.texts(.label, in: svg).contains("In bed"))
        #expect(!ShownPlots.texts(.label, in: svg).contains("Deep"))
        #expect(ShownPlots.texts(.note, in: svg) == ["asleep? not known"])
        #expect(ShownPlots.description(of: svg).contains("A time in bed: nothing says when asleep. In bed 8 h."))
        #expect(!ShownPlots.description(of: svg).contains("Asleep"))
        let total = Hypnogram("Sleep", axis: try axis(), stages: [], untimed: [.inBed: 480]).svg(.wide)
        #expect(ShownPlots.path(.inBed, in: total) != "")
        #expect(ShownPlots.description(of: total).contains("A time in bed"))
    }

    @Test func `sleep at an unknown depth has a row of its own, and minutes beside the stages are below`() throws {
        let night = Hypnogram(
            "Sleep", axis: try axis(), stages: [try stage(.inBed, 0, 20), try stage(.asleep, 20, 400)],
            untimed: [.awake: 12])
        let svg = night.svg(.wide)
        #expect(
            ShownPlots.texts(.label, in: svg).filter { !$0.contains(":") } == ["Asleep", "In bed", "Awake"])
        #expect(ShownPlots.texts(.note, in: svg) == ["Minutes beside these, without times"])
        #expect(ShownPlots.description(of: svg).contains("At an unknown depth 6 h 20 min."))
    }

    @Test func `of a night with too many stages each column shows the depth that takes most of it`() throws {
        let axis = try axis()
        func night(_ count: Int64) -> String {
            let length = (axis.to - axis.from) / count
            let stages = (0..<count).map { index in
                Hypnogram.Stage(
                    index % 10 == 9 ? .awake : index < count / 2 ? .deep : .rem, from: axis.from + index * length,
                    to: axis.from + (index + 1) * length)
            }
            return Hypnogram("Sleep", axis: axis, stages: stages).svg(.wide)
        }
        let limit = Int64(Hypnogram.maximumStages)
        #expect(ShownPlots.attributes("data-stages", in: night(limit))[0].split(separator: " ").count == limit)
        let many = night(limit * 20)
        #expect(ShownPlots.attributes("data-stages", in: many)[0].split(separator: " ").count <= limit)
        #expect(ShownPlots.path(.awake, in: many) == "")
        // The minutes are those of all stages.
        #expect(ShownPlots.texts(.value, in: many)[2] == "48 min")
    }

    @Test func `stages that overlap, or are outside of the night, count once or not at all`() throws {
        let night = Hypnogram(
            "Sleep", axis: try axis(),
            stages: [
                .init(.light, from: .min, to: try axis().from + 60 * minute), try stage(.deep, 30, 90),
                try stage(.rem, 40, 50), try stage(.light, 470, 900), .init(.deep, from: .max, to: .min),
            ], untimed: [.awake: .max, .deep: -5, .asleep: .max])
        let svg = night.svg(.wide)
        #expect(ShownPlots.attributes("data-stages", in: svg) == ["0,60,light 60,90,deep 470,480,light"])
    }

    @Test func `the night of a sample has its stages`() throws {
        let axis = try axis()
        let (start, end) = (Timestamp(milliseconds: axis.from), Timestamp(milliseconds: axis.to))
        let depths = Sleep.Stage.Depth.allCases
        let sleep = Sleep(
            stages: depths.enumerated().map { index, depth in
                Sleep.Stage(depth, from: start + .minutes(index), to: start + .minutes(index + 1))
            }, untimed: [.asleep: 30])
        let sample = Sample(metric: .sleep, start: start, end: end, reading: .sleep(sleep))
        let svg = try #require(Hypnogram("Sleep", sample, in: try ShownPlots.calendar())).svg(.wide)
        let written = ShownPlots.attributes("data-stages", in: svg)[0].split(separator: " ")
        #expect(written.map { $0.split(separator: ",")[2] } == depths.map { Substring($0.rawValue) })
        #expect(Set(NightDepth.allCases.map(\.rawValue)) == Set(depths.map(\.rawValue)))
        let steps = Sample(metric: .steps, start: start, reading: .count(Increment(count: 1)))
        #expect(Hypnogram("Sleep", steps, in: try ShownPlots.calendar()) == nil)
    }

    @Test func `the zones of a workout are parts of its duration, and the rest is none of them`() {
        let zones = ZonesBar(
            "Running", milliseconds: [4, 10, 17, 12, 0].map { $0 * minute }, duration: 50 * minute, maximum: 190)
        let svg = zones.svg(.narrow)
        #expect(ShownPlots.texts(.value, in: svg) == ["7 min", "4 min", "10 min", "17 min", "12 min", "0 min"])
        #expect(
            ShownPlots.texts(.note, in: svg)
                == ["95–113 bpm", "114–132 bpm", "133–151 bpm", "152–170 bpm", "from 171 bpm"])
        #expect(ShownPlots.description(of: svg).hasPrefix("No zone 7 min, 14 %. Zone 1 (95–113 bpm) 4 min, 8 %."))
        let wrong = ZonesBar("Running", milliseconds: [.max, .max, -1], duration: .min).svg(.wide)
        #expect(ShownPlots.texts(.value, in: wrong).count == 3)
        #expect(ZonesBar("Running", milliseconds: [], duration: 0).svg(.wide).hasSuffix("</svg>"))
    }

    @Test func `a sparkline has its gaps, its newest value, and words`() throws {
        let axis = try ShownPlots.axis(.day)
        var spark = Sparkline("Heart rate", unit: "bpm", axis: axis)
        for hours in [0, 1, 2, 6, 7, 12] { spark.add(60 + Double(hours), at: axis.from + Int64(hours) * 60 * minute) }
        let svg = spark.svg()
        #expect(ShownPlots.path(.line, in: svg).count(of: "M") == 2)
        #expect(ShownPlots.path(.dots, in: svg).count(of: "M") == 1)
        #expect(ShownPlots.description(of: svg) == "Between 60 bpm and 72 bpm. Newest 72 bpm.")
        let empty = Sparkline("Heart rate", unit: "bpm", axis: axis).svg()
        #expect(ShownPlots.description(of: empty) == "No values.")
        var flat = Sparkline("Temperature", unit: "°C", decimals: 1, axis: axis)
        flat.add(36.6, at: axis.from)
        #expect(flat.svg().contains("cy=\"16\""))
    }
}
