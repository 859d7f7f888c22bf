import Foundation
import Vitals

/// Records in addition to the simulator's: naps, nights that end at midnight, resting items of equal value, extremes of
/// a period.
enum YearAdditions {
    /// Records by device, for `days` days from the day of `first`.
    static func all(calendar: Calendar, from first: Date, days: Int) -> [String: [Sample]] {
        var band: [Sample] = []
        for number in 0..<days {
            guard let day = calendar.date(byAdding: .day, value: number, to: calendar.startOfDay(for: first)) else {
                continue
            }
            if number % 3 == 0 { band.append(sleep(from: moment(calendar, day, 13, 5), minutes: 40)) }
            // One nap ends on the next day, one exactly at its beginning.
            if number % 10 == 4 { band.append(sleep(from: moment(calendar, day, 23, 35), minutes: 45)) }
            if number % 10 == 9 { band.append(sleep(from: moment(calendar, day, 23, 20), minutes: 40)) }
            guard number % 2 == 0 else { continue }
            for minute in [7, 37] {
                band.append(rate(at: moment(calendar, day, 3, minute) + .seconds(30), .resting, 41))
            }
            band.append(rate(at: moment(calendar, day, 18, 0) + .seconds(10), .maximum, 190))
            band.append(rate(at: moment(calendar, day, 18, 0) + .seconds(20), .minimum, 33))
        }
        return ["band": band]
    }

    private static func moment(_ calendar: Calendar, _ day: Date, _ hour: Int, _ minute: Int) -> Timestamp {
        let date = calendar.date(bySettingHour: hour, minute: minute, second: 0, of: day) ?? day
        return Timestamp(seconds: Int64(date.timeIntervalSince1970))
    }

    private static func rate(at start: Timestamp, _ kind: Sample.Kind, _ value: Double) -> Sample {
        Sample(metric: .heartRate, start: start, kind: kind, reading: .value(value))
    }

    private static func sleep(from start: Timestamp, minutes: Int) -> Sample {
        let middle = start + .minutes(minutes / 2) + .seconds(20)
        let end = start + .minutes(minutes)
        return Sample(
            metric: .sleep, start: start, end: end,
            reading: .sleep(
                Sleep(stages: [Sleep.Stage(.light, from: start, to: middle), Sleep.Stage(.deep, from: middle, to: end)])
            ))
    }
}
