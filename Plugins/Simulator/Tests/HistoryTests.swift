import GatewayKit
import Testing
import Vitals

@testable import Simulator

@Suite struct HistoryTests {
    @Test(arguments: Model.allCases)
    func `every page together is the history, whatever their size`(model: Model) throws {
        let driver = SimulatorDriver(SimulatorOptions(model: model, seed: 3, liveInterval: nil))
        try Setup.play(driver) { setup in
            let (from, to) = (Setup.noon - .days(9), Setup.noon)
            for metric in setup.session.description.capabilities.metrics(with: .history) {
                let whole = try await setup.history(metric, from: from, to: to)
                let pieces = try await setup.history(metric, from: from, to: to, limit: 7)
                #expect(whole == pieces)
                #expect(whole.count > 0, "\(metric)")
                for sample in whole {
                    #expect(sample.isValid)
                    #expect(sample.metric == metric)
                    #expect(from <= sample.start && sample.end <= to)
                }
                for (sample, next) in zip(whole, whole.dropFirst()) { #expect(sample.start < next.start) }
            }
        }
    }

    @Test func `a night may have stages, times asleep, minutes, or only the time in bed`() throws {
        func nights(_ detail: SimulatorOptions.SleepDetail) throws -> [Sample] {
            let driver = SimulatorDriver(SimulatorOptions(seed: 3, liveInterval: nil, sleep: detail))
            return try Setup.play(driver) { setup in
                try await setup.history(.sleep, from: Setup.noon - .days(9), to: Setup.noon)
            }
        }
        let staged = try nights(.stages)
        for detail in [SimulatorOptions.SleepDetail.asleep, .totals, .inBed] {
            let others = try nights(detail)
            #expect(others.map(\.start) == staged.map(\.start) && others.map(\.end) == staged.map(\.end))
            #expect(others.allSatisfy { $0.isValid })
            let values = staged.map { detail == .inBed ? 0 : $0.value }
            #expect(others.map(\.value) == values)
        }
        guard case .sleep(let sleep) = try #require(try nights(.asleep).first).reading else { return }
        #expect(Set(sleep.stages.map(\.depth)).isSubset(of: [.asleep, .awake]) && sleep.minutes(.asleep) > 0)
        guard case .sleep(let totals) = try #require(try nights(.totals).first).reading else { return }
        #expect(totals.stages.isEmpty && totals.minutes(.deep) > 0)
    }

    @Test func `a range is taken from inclusive to exclusive`() throws {
        try Setup.play(SimulatorDriver(SimulatorOptions(seed: 3))) { setup in
            let start = Setup.noon - .hours(5)
            let hour = try await setup.history(.heartRate, from: start, to: start + .hours(1))
            #expect(hour.map(\.start) == (0..<12).map { start + .minutes($0 * 5) })
            #expect(try await setup.history(.heartRate, from: start, to: start).isEmpty)
        }
    }

    @Test func `two records of one start stand on pages of their own, in order`() throws {
        try Setup.play(SimulatorDriver(SimulatorOptions(seed: 3, liveInterval: nil))) { setup in
            // Ends at 12:30, when the schedule also takes a value.
            try await setup.pass(.minutes(30) - .seconds(10))
            _ = try await setup.session.startMeasurement(of: .bloodOxygen, duration: .seconds(10))
            try await setup.pass(.hours(1))
            let (from, to) = (Setup.noon, Setup.noon + .hours(1))
            for limit in 1...3 {
                let samples = try await setup.history(.bloodOxygen, from: from, to: to, limit: limit)
                #expect(samples.map(\.start) == [0, 30, 30].map { Setup.noon + .minutes($0) })
                #expect(samples.map(\.isUserInitiated).sorted { !$0 && $1 } == [false, false, true])
            }
        }
    }

    @Test func `it goes as far back as it was configured, and no further`() throws {
        try Setup.play(SimulatorDriver(SimulatorOptions(seed: 3, historyDays: 10))) { setup in
            let samples = try await setup.history(.heartRate, from: Setup.noon - .days(300), to: Setup.noon)
            #expect(samples.first?.start == Setup.noon - .days(10))
            #expect(setup.session.description.capabilities.maximumHistoryDays == 10)
        }
        try Setup.play(SimulatorDriver(SimulatorOptions(model: .oximeter, historyDays: 400))) { setup in
            #expect(setup.session.description.capabilities.maximumHistoryDays == 3)
        }
        try Setup.play(SimulatorDriver(SimulatorOptions(historyDays: 0))) { setup in
            #expect(setup.session.description.capabilities.metrics(with: .history).isEmpty)
            #expect(setup.session.description.capabilities.metrics(with: .summary).isEmpty)
            await #expect(throws: DeviceError.self) {
                try await setup.history(.heartRate, from: Setup.noon - .days(1), to: Setup.noon)
            }
        }
    }

    @Test func `a second sync after an acknowledgement finds the same`() throws {
        let driver = SimulatorDriver(SimulatorOptions(seed: 3))
        try Setup.play(driver) { setup in
            let (from, to) = (Setup.noon - .days(2), Setup.noon)
            let first = try await setup.history(.bloodPressure, from: from, to: to)
            let last = try #require(first.last)
            try await setup.session.acknowledgeHistory(of: .bloodPressure, through: last.start)
            try await setup.session.acknowledgeHistory(of: .bloodPressure, through: from)
            #expect(try await setup.history(.bloodPressure, from: from, to: to) == first)
            let simulated = try #require(setup.session as? SimulatedSession)
            #expect(simulated.device.use { $0.acknowledgedThrough } == [.bloodPressure: last.start])
        }
    }

    @Test func `a year is whole, also on the days on which clocks are turned`() throws {
        let start = Timestamp(seconds: 1_798_758_000)  // 2027-01-01T00:00 in Berlin
        let driver = SimulatorDriver(SimulatorOptions(seed: 3, historyDays: 365, liveInterval: nil))
        try Setup.play(driver, at: start) { setup in
            let calendar = try #require(LocalCalendar(identifier: "Europe/Berlin"))
            let rates = try await setup.history(.heartRate, from: start - .days(365), to: start)
            let counts = Dictionary(grouping: rates) { calendar.day(of: $0.start) }.mapValues(\.count)
            #expect(counts.count == 365)
            for (day, count) in counts {
                let bounds = calendar.bounds(of: day)
                let slots = Int((bounds.upperBound - bounds.lowerBound).inMinutes / 5)
                // Charging takes 35 to 55 minutes.
                #expect((slots - 11...slots - 7).contains(count), "\(day)")
            }
            let spring = try #require(LocalDay("2026-03-29"))
            let autumn = try #require(LocalDay("2026-10-25"))
            #expect(try #require(counts[spring]) < 276)
            #expect(try #require(counts[autumn]) > 288)
            let sleeps = try await setup.history(.sleep, from: start - .days(365), to: start)
            let nights = sleeps.filter { $0.duration > .hours(3) }
            #expect((1...80).contains(sleeps.count - nights.count), "naps")
            // The first day's night may have begun in the year before.
            #expect((364...365).contains(nights.count))
            #expect(Set(nights.map { calendar.day(of: $0.end) }).count == nights.count)
            #expect(try await setup.history(.restingHeartRate, from: start - .days(365), to: start).count == 365)
        }
    }

    @Test func `a page that does not exist, or a metric without history, is refused`() throws {
        try Setup.play(SimulatorDriver(SimulatorOptions(model: .ring))) { setup in
            let range = (Setup.noon - .days(1), Setup.noon)
            for page in ["", "x", "12", "1+", "1+-1", "1+1+1"] {
                let request = HistoryRequest(metric: .heartRate, from: range.0, to: range.1, page: page)
                await #expect(throws: DeviceError(.invalid, "There is no page \(page); ask for the first one again.")) {
                    try await setup.session.history(request)
                }
            }
            await #expect(throws: DeviceError.unsupported("the history of sport")) {
                try await setup.history(.sport, from: range.0, to: range.1)
            }
            await #expect(throws: DeviceError.unsupported("the history of sport")) {
                try await setup.session.acknowledgeHistory(of: .sport, through: range.1)
            }
        }
    }

    @Test func `a cuff serves two people, each in a slot`() throws {
        try Setup.play(SimulatorDriver(SimulatorOptions(model: .cuff, seed: 3))) { setup in
            let samples = try await setup.history(.bloodPressure, from: Setup.noon - .days(30), to: Setup.noon)
            #expect(Set(samples.map(\.user)) == [1, 2])
            for sample in samples {
                #expect(sample.isUserInitiated)
                #expect(sample.duration == .seconds(40))
                guard case .bloodPressure(let pressure) = sample.reading else {
                    Issue.record("\(sample.reading)")
                    continue
                }
                #expect(pressure.pulse != nil)
            }
            for (sample, next) in zip(samples, samples.dropFirst()) { #expect(sample.end < next.start) }
        }
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `each of the cuff's people has a body of their own`(seed: UInt64) throws {
        try Setup.play(SimulatorDriver(SimulatorOptions(model: .cuff, seed: seed))) { setup in
            let samples = try await setup.history(.bloodPressure, from: Setup.noon - .days(30), to: Setup.noon)
            for slot in [1, 2] {
                let body = Person(seed: seed, slot: slot)
                let own = samples.filter { $0.user == slot }.compactMap { sample in
                    if case .bloodPressure(let pressure) = sample.reading { pressure } else { nil }
                }
                #expect(own.count > 20)
                let systolic = own.map(\.systolic).reduce(0, +) / Double(own.count)
                let diastolic = own.map(\.diastolic).reduce(0, +) / Double(own.count)
                #expect(abs(systolic - body.systolic) < 8, "slot \(slot)")
                #expect(abs(diastolic - body.diastolic) < 6, "slot \(slot)")
                let pulses = own.compactMap(\.pulse)
                #expect(pulses.allSatisfy { (body.restingHeartRate..<body.maximumHeartRate).contains($0) })
            }
            let twin = (Person(seed: seed, slot: 1), Person(seed: seed, slot: 2))
            #expect(twin.0.systolic != twin.1.systolic && twin.0.restingHeartRate != twin.1.restingHeartRate)
        }
    }

    @Test func `a nap is a sleep of its day, in the history and in its summary`() throws {
        try Setup.play(SimulatorDriver(SimulatorOptions(seed: 3, historyDays: 90, liveInterval: nil))) { setup in
            let calendar = try #require(LocalCalendar(identifier: "Europe/Berlin"))
            let sleeps = try await setup.history(.sleep, from: Setup.noon - .days(88), to: Setup.noon)
            let nap = try #require(sleeps.last { $0.duration < .hours(3) })
            let day = calendar.day(of: nap.end)
            let ofDay = sleeps.filter { calendar.day(of: $0.end) == day }
            #expect(ofDay.count == 2)
            let summary = try #require(try await setup.session.summaries(of: .sleep, days: day...day).first)
            guard case .sleep(let totals) = summary.details else {
                Issue.record("\(summary)")
                return
            }
            #expect(Double(totals.asleep) == ofDay.compactMap(\.value).reduce(0, +))
        }
    }

    @Test func `daily summaries are those of the device's samples`() throws {
        try Setup.play(SimulatorDriver(SimulatorOptions(seed: 3, historyDays: 5, liveInterval: nil))) { setup in
            let calendar = try #require(LocalCalendar(identifier: "Europe/Berlin"))
            let today = calendar.day(of: Setup.noon)
            for metric in setup.session.description.capabilities.metrics(with: .summary) {
                let days = try await setup.session.summaries(of: metric, days: today.advanced(by: -20)...today)
                #expect(days.map(\.day) == days.map(\.day).sorted())
                #expect(days.count <= 5)
                for summary in days {
                    let bounds = calendar.bounds(of: summary.day)
                    let samples = try await setup.history(
                        metric, from: bounds.lowerBound - .days(1), to: bounds.upperBound
                    ).filter { DailySummary.day(of: $0, in: calendar) == summary.day }
                    #expect(summary.count == samples.count)
                    #expect(summary.metric == metric)
                }
            }
            let rates = try await setup.session.summaries(of: .heartRate, days: today...today)
            guard case .values(let extremes) = rates.first?.details else {
                Issue.record("no summary of today")
                return
            }
            #expect(try #require(extremes.maximum?.sample.value) > 80)
            await #expect(throws: DeviceError.unsupported("daily summaries of battery")) {
                try await setup.session.summaries(of: .battery, days: today...today)
            }
        }
    }
}
