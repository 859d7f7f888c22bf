import Foundation
import GatewayKit
import Testing
import Vitals

@testable import Phones

/// What messages of the profile become.
@Suite struct FITSamplesTests {
    private let place = FileManager.default.temporaryDirectory.appending(path: "fit-\(UUID().uuidString).fit")
    private static let midnight = Timestamp(rfc3339: "2026-01-05T00:00:00Z") ?? Timestamp(seconds: 0)

    private func read(
        _ writer: FITWriter, _ counts: FITCounts = FITCounts(), zone: String = "UTC"
    ) throws -> (samples: [Sample], file: FITSamples) {
        try FITInput.read(writer.file(), counts, at: place, zone: zone)
    }

    /// Counts in short: metric, seconds of its bounds, amount, activity.
    private static func text(_ samples: [Sample]) -> [String] {
        samples.map { sample in
            let bounds = [sample.start, sample.end].map { "\(($0 - midnight).inMilliseconds / 1000)" }.joined(
                separator: "-")
            let activity = sample.qualifiers[.activity].map { " \($0)" } ?? ""
            return "\(sample.metric) \(bounds) \(sample.value ?? -1)\(activity)"
        }
    }

    @Test func `a workout has its sums, and heart rates in exercise`() throws {
        var writer = FITWriter()
        writer.begin()
        writer.add(20, at: 600, [(3, .uint8, 95), (5, .uint32, 0)])
        writer.add(20, at: 601, [(3, .uint8, 140)])
        writer.add(20, at: 602, [(3, .uint8, 255)])
        writer.add(
            19, at: 1200,
            [(2, .uint32, FITWriter.midnight + 600), (9, .uint32, 100_000), (15, .uint8, 130), (16, .uint8, 150)])
        writer.add(
            19, at: 2402, [(2, .uint32, FITWriter.midnight + 1200), (7, .uint32, 1_201_000), (11, .uint16, 200)])
        writer.add(19, at: 9000, [(2, .uint32, FITWriter.midnight + 8000)])
        writer.add(
            18, at: 2402,
            [
                (2, .uint32, FITWriter.midnight + 600), (5, .enumeration, 1), (6, .enumeration, 1),
                (7, .uint32, 1_800_500), (9, .uint32, 512_345), (10, .uint32, 2400), (11, .uint16, 321),
                (16, .uint8, 139), (17, .uint8, 171),
            ])
        let (samples, file) = try read(writer)
        let origin = SampleOrigin(place: 2001, name: "garmin 3113 77")
        var sport = Sport(
            activity: "treadmill", distance: 5123.45, energy: 321, steps: 4800, minimumHeartRate: 95,
            averageHeartRate: 139, maximumHeartRate: 171)
        let start = Self.midnight + .seconds(600)
        sport.laps = [
            Sport.Lap(
                from: start, to: start + .seconds(600), distance: 1000, averageHeartRate: 130, maximumHeartRate: 150),
            // Its end is that of the workout, which is a second earlier.
            Sport.Lap(from: start + .seconds(600), to: start + .milliseconds(1_800_500), energy: 200),
        ]
        #expect(
            samples == [
                Sample(metric: .heartRate, start: start, isExercise: true, reading: .value(95)),
                Sample(metric: .heartRate, start: start + .seconds(1), isExercise: true, reading: .value(140)),
                Sample(metric: .sport, start: start, end: start + .milliseconds(1_800_500), reading: .sport(sport)),
            ])
        #expect(samples.allSatisfy { $0.origin == origin })
        #expect(file.unread == [19: 1] && file.skipped.counts.isEmpty)
    }

    @Test func `a workout counts, and has no lowest heart rate, if its mean is below all that were recorded`() throws {
        var writer = FITWriter()
        writer.begin()
        writer.add(20, at: 600, [(3, .uint8, 180)])
        writer.add(18, at: 602, [(2, .uint32, FITWriter.midnight + 600), (7, .uint32, 1_000), (16, .uint8, 120)])
        let (samples, file) = try read(writer)
        let sport = try #require(
            samples.compactMap { if case .sport(let sport) = $0.reading { sport } else { nil } }.first)
        #expect(sport.averageHeartRate == 120 && sport.minimumHeartRate == nil)
        #expect(file.skipped.counts.isEmpty)
    }

    @Test func `a course may be anybody's`() throws {
        var writer = FITWriter()
        writer.begin(6)
        writer.add(20, at: 600, [(3, .uint8, 95)])
        #expect(try read(writer).samples.isEmpty)
    }

    @Test func `running counts become those of each interval, and go on in the next file`() throws {
        var writer = FITWriter()
        writer.begin(32, at: 0)
        writer.add(103, at: 0, [(0, .uint32, FITWriter.midnight)])
        writer.add(55, at: 3600, [(5, .enumeration, 6), (3, .uint32, 100), (2, .uint32, 8000), (19, .uint16, 5)])
        // Both activities until one moment; the seconds from here on are those of 16 bits.
        writer.add(55, at: 7200, [(5, .enumeration, 6), (3, .uint32, 150), (2, .uint32, 12_000)])
        writer.add(
            55, (26, .uint16, (FITWriter.midnight + 7200) & 0xffff), (24, .byte, 0x61), (3, .uint32, 40),
            (19, .uint16, 9))
        writer.add(55, (26, .uint16, (FITWriter.midnight + 7260) & 0xffff), (27, .uint8, 71))
        let first = try read(writer)
        #expect(
            Self.text(first.samples) == [
                "steps 0-3600 100.0", "distance 0-3600 80.0 walking_running", "active_energy 0-3600 5.0",
                "steps 3600-7200 90.0", "distance 3600-7200 40.0 walking_running", "active_energy 3600-7200 9.0",
                "heart_rate 7260-7260 71.0",
            ])
        // The next file begins with the counts so far.
        var next = FITWriter()
        next.begin(32, at: 7300)
        next.add(55, at: 7200, [(5, .enumeration, 6), (3, .uint32, 150)])
        next.add(55, at: 7300, [(5, .enumeration, 6), (3, .uint32, 157)])
        let second = try read(next, first.file.counts)
        #expect(Self.text(second.samples) == ["steps 7200-7300 7.0"])
        // The same again, or an earlier file of the day, counts nothing twice.
        #expect(try read(next, second.file.counts).samples.isEmpty)
        #expect(Self.text(try read(writer, second.file.counts).samples) == ["heart_rate 7260-7260 71.0"])
        // What a note keeps is the same.
        #expect(FITCounts(note: second.file.counts.note) == second.file.counts)
        #expect(FITCounts(note: Array("rubbish\n1 2\n".utf8)) == FITCounts())
    }

    @Test func `a day of counts begins at the wearable's midnight, and one that falls is counted as such`() throws {
        var writer = FITWriter()
        writer.begin(32)
        // An hour east of UTC, so midnight was an hour before.
        writer.add(103, at: -7200, [(0, .uint32, FITWriter.midnight - 3600)])
        writer.add(55, at: -7200, [(5, .enumeration, 6), (3, .uint32, 9000)])
        writer.add(55, at: -3600, [(5, .enumeration, 6), (3, .uint32, 9100)])
        writer.add(55, at: 0, [(5, .enumeration, 6), (3, .uint32, 20)])
        writer.add(55, at: 60, [(5, .enumeration, 6), (3, .uint32, 5)])
        writer.add(55, at: 120, [(5, .enumeration, 6), (3, .uint32, 9)])
        let (samples, file) = try read(writer, zone: "America/New_York")
        #expect(
            Self.text(samples) == [
                "steps -90000--7200 9000.0", "steps -7200--3600 100.0", "steps -3600-0 20.0", "steps 60-120 4.0",
            ])
        #expect(file.skipped.counts == ["monitoring": [.countFell: 1]])
    }

    @Test func `only so many days of running counts are remembered`() throws {
        var counts = FITCounts()
        let skipped = SkippedRows()
        let origin = SampleOrigin(place: 1, name: "a")
        for day in 0...FITLimits.days {
            _ = counts.samples(
                of: [6: [100, nil, nil]], at: Int64(day) * 86_400 + 3600, offset: 0, origin: origin, skipped)
        }
        // The oldest is forgotten, the next one is not.
        let second = counts.samples(of: [6: [110, nil, nil]], at: 86_400 + 7200, offset: 0, origin: origin, skipped)
        #expect(second.map(\.value) == [10])
        let first = counts.samples(of: [6: [110, nil, nil]], at: 7200, offset: 0, origin: origin, skipped)
        #expect(first.map(\.value) == [110])
    }

    @Test func `values of health have their scales, and codes for none are none`() throws {
        var writer = FITWriter()
        writer.begin(32)
        writer.add(227, (0, .sint16, 31), (1, .uint32, FITWriter.midnight + 60))
        writer.add(227, (0, .sint16, -2), (1, .uint32, FITWriter.midnight + 120))
        writer.add(297, at: 180, [(0, .sint16, 1425)])
        writer.add(297, at: 240, [(0, .sint16, -100)])
        writer.add(269, at: 300, [(0, .uint8, 97)])
        writer.add(371, at: 360, [(0, .uint16, 5440)])
        writer.add(211, at: 420, [(0, .uint8, 55), (1, .uint8, 52)])
        writer.add(229, (0, .uint32, FITWriter.midnight + 480), (2, .uint16, 487))
        writer.add(30, at: 540, [(0, .uint16, 7215), (1, .uint16, 1830), (13, .uint16, 231), (12, .uint16, 2)])
        writer.add(30, at: 600, [(0, .uint16, 65_534)])
        writer.add(51, at: 660, [(0, .uint16, 121), (1, .uint16, 79), (6, .uint8, 66)])
        writer.add(51, at: 720, [(0, .uint16, 79), (1, .uint16, 121)])
        writer.add(999, at: 780, [(0, .uint8, 1)])
        let (samples, file) = try read(writer)
        #expect(
            Self.text(samples) == [
                "stress 60-60 31.0", "respiratory_rate 180-180 14.25", "blood_oxygen 300-300 97.0",
                "heart_rate_variability 360-360 42.5", "resting_heart_rate 420-420 52.0", "vo2_max 480-480 48.7",
                "weight 540-540 72.15", "body_fat 540-540 18.3", "body_mass_index 540-540 23.1",
                "blood_pressure 660-660 -1.0",
            ])
        #expect(samples.first { $0.metric == .weight }?.user == 2)
        #expect(samples.last?.reading == .bloodPressure(BloodPressure(systolic: 121, diastolic: 79, pulse: 66)))
        #expect(file.skipped.counts == ["bloodPressure": [.implausible: 1]] && file.unread == [999: 1])
    }

    @Test func `levels of sleep are of the time before them, from the event of falling asleep on`() throws {
        var writer = FITWriter()
        writer.begin(49)
        writer.add(21, at: 0, [(0, .enumeration, 74), (1, .enumeration, 0)])
        for (minute, level) in [(20, 2), (40, 2), (70, 3), (80, 0), (100, 4), (105, 1)] as [(Int64, Int64)] {
            writer.add(275, at: minute * 60, [(0, .enumeration, level)])
        }
        // After a long pause another one begins.
        for (minute, level) in [(600, 2), (630, 2)] as [(Int64, Int64)] {
            writer.add(275, at: minute * 60, [(0, .enumeration, level)])
        }
        func stages(_ sample: Sample) -> [String] {
            guard case .sleep(let sleep) = sample.reading else { return [] }
            return sleep.stages.map {
                "\($0.depth) \(($0.start - Self.midnight).inMilliseconds / 60_000)-\(($0.end - Self.midnight).inMilliseconds / 60_000)"
            }
        }
        #expect(
            try read(writer).samples.map(stages) == [
                ["light 0-40", "deep 40-70", "rem 80-100", "awake 100-105"], ["light 600-630"],
            ])
    }

    @Test func `a clock of 1989 refuses a file, and costs only its values where the clock was set later`() throws {
        var writer = FITWriter()
        writer.begin(32)
        writer.add(269, at: 300 - FITWriter.midnight, [(0, .uint8, 97)])
        #expect { try read(writer) } throws: { "\($0)".contains("the clock of its device was not set. Set it") }
        writer.add(269, at: 300, [(0, .uint8, 98)])
        let (samples, file) = try read(writer)
        #expect(samples.map(\.value) == [98] && file.skipped.counts == ["spo2Data": [.withoutTime: 1]])
    }

    @Test func `a workout or a maker that nobody knows has its number`() {
        #expect(FITProfile.sport(200, nil) == "sport_200" && FITProfile.sport(2, 6) == "indoor_cycling")
        #expect(FITProfile.maker(9999).name == "maker_9999" && FITProfile.maker(260).name == "zwift")
    }
}
