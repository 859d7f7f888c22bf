import Vitals

/// Makes samples of what a ring sends about its days.
///
/// Only what is over counts: a slot of the running day still has the value of the day before until the ring fills it.
struct RecordDecoder: Sendable {
    let zone: RingZone
    /// What the ring's clock showed before the ring was asked.
    let asked: Timestamp

    /// The heart rates of a day. A log of another day is refused.
    func heartRates(_ reply: DayLogReply, _ day: LocalDay) -> DayRecords {
        if reply.isEmpty { return DayRecords() }
        guard let log = try? DayLog(reply, .second), let second = log.second, second / 86_400 == day.number else {
            return DayRecords(refused: 1)
        }
        return DayRecords(samples: spots(log, day, .heartRate))
    }

    /// The stress values of a day.
    func stress(_ reply: DayLogReply, _ day: LocalDay) -> DayRecords {
        if reply.isEmpty { return DayRecords() }
        guard let log = try? DayLog(reply, .unknown) else { return DayRecords(refused: 1) }
        return DayRecords(samples: spots(log, day, .stress))
    }

    /// The steps of a day. Records of another day are refused.
    /// - Parameter byQuarters: whether the ring has reported a quarter that begins no full hour; in all captures it counts hours.
    func steps(_ reply: StepReply, _ day: LocalDay, byQuarters: Bool) -> DayRecords {
        var result = DayRecords()
        var starts: Set<Int> = []
        for record in reply.records {
            guard record.day == day, record.quarter < 96, starts.insert(record.quarter).inserted else {
                result.refused += 1
                continue
            }
            let start = zone.moment(day, minute: record.quarter * 15)
            let end = start + .minutes(byQuarters ? 15 : 60)
            guard end <= asked else { continue }
            let steps = Increment(
                count: record.steps, distance: Double(record.metres),
                energy: Double(record.energy) / (reply.hasTens ? 100 : 1000))
            result.samples.append(Sample(metric: .steps, start: start, end: end, reading: .count(steps)))
        }
        result.samples.sort { $0.start < $1.start }
        return result
    }

    /// The lowest blood oxygen of each hour. The highest would have the same id, and the lowest is the one that matters.
    func oxygen(_ body: [UInt8], today: LocalDay) -> [LocalDay: DayRecords] {
        guard let days = try? OxygenDay.days(in: body) else { return [today: DayRecords(refused: 1)] }
        return records(days.map { ($0.daysAgo, $0) }, today) { oxygen, day in
            oxygen.hours.enumerated().compactMap { hour, value in
                let start = zone.moment(day, minute: hour * 60)
                guard value.lowest > 0, value.highest >= value.lowest, start + .hours(1) <= asked else { return nil }
                return Sample(
                    metric: .bloodOxygen, start: start, end: start + .hours(1),
                    kind: value.lowest == value.highest ? .normal : .minimum, reading: .value(Double(value.lowest)))
            }
        }
    }

    /// The temperatures of the finger.
    func temperatures(_ body: [UInt8], today: LocalDay) -> [LocalDay: DayRecords] {
        guard let days = try? TemperatureDay.days(in: body) else { return [today: DayRecords(refused: 1)] }
        return records(days.map { ($0.daysAgo, $0) }, today) { temperatures, day in
            temperatures.values.enumerated().compactMap { slot, value in
                let start = zone.moment(day, minute: slot * TemperatureDay.interval)
                guard value > 0, start + .minutes(TemperatureDay.interval) <= asked else { return nil }
                return Sample(
                    metric: .skinTemperature, start: start, reading: .value(TemperatureDay.celsius(value)))
            }
        }
    }

    /// The sleeps that are over. Of two that overlap, the one that ended later counts.
    func sleeps(_ body: [UInt8], today: LocalDay) -> [LocalDay: DayRecords] {
        guard let records = try? SleepRecord.records(in: body) else { return [today: DayRecords(refused: 1)] }
        var result: [LocalDay: DayRecords] = [:]
        var earliest: Timestamp?
        for record in records.sorted(by: { (-$0.daysAgo, $0.end) > (-$1.daysAgo, $1.end) }) {
            let day = today.advanced(by: -record.daysAgo)
            let (start, end) = (zone.moment(day, minute: record.start), zone.moment(day, minute: record.end))
            // A sleep of no length is the place of one that is not there.
            if start == end || end > asked { continue }
            guard record.daysAgo < Self.oldest, earliest.map({ end <= $0 }) ?? true else {
                result[day, default: DayRecords()].refused += 1
                continue
            }
            earliest = start
            let sleep = Sleep(stages: stages(record, start, end))
            result[day, default: DayRecords()].samples.append(
                Sample(metric: .sleep, start: start, end: end, reading: .sleep(sleep)))
        }
        return result
    }

    /// No ring remembers a day as long ago.
    private static let oldest = 31

    /// The stages, each after the one before. What is beyond the end of the sleep is skipped.
    private func stages(_ record: SleepRecord, _ start: Timestamp, _ end: Timestamp) -> [Sleep.Stage] {
        var next = start
        return record.stages.compactMap { stage in
            let (begin, finish) = (next, min(end, next + .minutes(stage.minutes)))
            next = finish
            guard let depth = stage.depth, begin < finish else { return nil }
            return Sleep.Stage(depth, from: begin, to: finish)
        }
    }

    private func spots(_ log: DayLog, _ day: LocalDay, _ metric: Metric) -> [Sample] {
        log.values.enumerated().compactMap { slot, value in
            let start = zone.moment(day, minute: slot * log.interval)
            guard value > 0, start + .minutes(log.interval) <= asked else { return nil }
            return Sample(metric: metric, start: start, reading: .value(Double(value)))
        }
    }

    /// The records of days, which the ring counts backwards from today. A day that no ring can remember, or that comes twice, is refused.
    private func records<Day>(
        _ days: [(daysAgo: Int, content: Day)], _ today: LocalDay, _ samples: (Day, LocalDay) -> [Sample]
    ) -> [LocalDay: DayRecords] {
        var result: [LocalDay: DayRecords] = [:]
        for (daysAgo, content) in days {
            let day = today.advanced(by: -daysAgo)
            guard daysAgo < Self.oldest, result[day] == nil else {
                result[day, default: DayRecords()].refused += 1
                continue
            }
            result[day] = DayRecords(samples: samples(content, day))
        }
        return result
    }
}
