import GatewayKit
import Vitals

/// The running counts of monitoring: each message has what an activity came to since the wearable's midnight. The difference to the message
/// before is what was counted in between; the first one of a day counts from midnight.
///
/// What is counted of a wearable's day goes on in the next file, and is not counted again by a file that has it once more.
struct FITCounts: Sendable, Hashable {
    struct Day: Hashable, Sendable {
        /// What stands for the wearable (`SampleOrigin.number`).
        var origin: Int64
        /// Local days since 1970.
        var number: Int64
    }
    /// How far a day is counted.
    private struct Progress: Hashable {
        /// Seconds since 1970.
        var time: Int64
        /// By activity: steps, metres and kilocalories.
        var amounts: [Int64: [Double]] = [:]
    }
    private var days: [Day: Progress] = [:]

    /// What of a message counts, in this order.
    private static let metrics: [Metric] = [.steps, .distance, .activeEnergy]

    init() {}

    /// What was counted until a time, in seconds since 1970.
    /// - Parameters:
    ///   - amounts: by activity what came together so far: steps, metres, kilocalories.
    ///   - offset: of the wearable's clock from UTC, in seconds.
    mutating func samples(
        of amounts: [Int64: [Double?]], at time: Int64, offset: Int64, origin: SampleOrigin, _ skipped: SkippedRows
    ) -> [Sample] {
        // A message of midnight still is of the day that ends.
        let (number, rest) = (time + offset - 1).quotientAndRemainder(dividingBy: 86_400)
        let day = Day(origin: origin.number, number: number)
        var progress = days[day] ?? Progress(time: time - 1 - rest)
        guard time > progress.time else { return [] }
        let start = progress.time
        var found: [Sum: Double] = [:]
        for (activity, values) in amounts {
            for (place, value) in values.enumerated() {
                guard let value else { continue }
                let before = progress.amounts[activity]?[place] ?? 0
                // At midnight a wearable may have begun anew.
                if value < before, rest == 86_399 { continue }
                if value < before { skipped.add(.countFell, in: "monitoring") }
                if value > before {
                    let word = place == 1 ? FITProfile.activities[activity] : nil
                    found[Sum(place: place, activity: word), default: 0] += value - before
                }
                progress.amounts[activity, default: [0, 0, 0]][place] = value
            }
        }
        progress.time = time
        days[day] = progress
        if days.count > FITLimits.days,
            let oldest = days.min(by: { ($0.key.number, $0.value.time) < ($1.key.number, $1.value.time) })
        {
            days[oldest.key] = nil
        }
        return found.sorted { ($0.key.place, $0.key.activity ?? "") < ($1.key.place, $1.key.activity ?? "") }
            .compactMap { sum, amount in
                guard let increment = Increment(amount: amount) else { return nil }
                return Sample(
                    metric: Self.metrics[sum.place], start: Timestamp(seconds: start), end: Timestamp(seconds: time),
                    qualifiers: sum.activity.map { [.activity: $0] } ?? [:], origin: origin, reading: .count(increment))
            }
    }

    private struct Sum: Hashable {
        var place: Int
        var activity: String?
    }

    // MARK: - As a note

    /// The days as lines of numbers: wearable, day, time, and four for each activity.
    var note: [UInt8] {
        let lines = days.sorted { ($0.key.number, $0.key.origin) < ($1.key.number, $1.key.origin) }.map {
            day, progress in
            let amounts = progress.amounts.sorted { $0.key < $1.key }.flatMap { [Double($0.key)] + $0.value }
            return "\(day.origin) \(day.number) \(progress.time)" + amounts.map { " \($0)" }.joined()
        }
        // The newest ones fit.
        var text = ""
        for line in lines.reversed() where text.utf8.count + line.utf8.count < DeviceNotes.maximumSize {
            text += line + "\n"
        }
        return Array(text.utf8)
    }

    /// The days of a note; what cannot be read is left out.
    init(note: [UInt8]) {
        for line in String(decoding: note, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count >= 3, let origin = Int64(words[0]), let number = Int64(words[1]),
                let time = Int64(words[2])
            else { continue }
            let amounts = words.dropFirst(3).compactMap { Double($0) }
            var progress = Progress(time: time)
            for start in stride(from: 0, to: amounts.count - 3, by: 4) {
                guard let activity = Int64(exactly: amounts[start]) else { continue }
                progress.amounts[activity] = Array(amounts[start + 1..<start + 4])
            }
            days[Day(origin: origin, number: number)] = progress
        }
    }
}
