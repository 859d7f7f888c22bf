import GatewayKit
import GatewayTesting
import Glibc
import TestSupport
import Testing
import Vitals

@testable import Simulator

@Suite struct LiveTests {
    @Test(arguments: Model.allCases)
    func `what came live in a day is what the history says of it`(model: Model) throws {
        let driver = SimulatorDriver(SimulatorOptions(model: model, seed: 3, liveInterval: nil))
        try Setup.play(driver) { setup in
            // One second more, so that the last values are sent.
            try await setup.pass(.hours(25) + .seconds(1))
            let (from, to) = (Setup.noon, Setup.noon + .hours(25))
            let live = setup.samples
            for metric in setup.session.description.capabilities.metrics(with: .history) {
                // A night that began before noon is also sent live, but the history is requested by start.
                let history = try await setup.history(metric, from: from - .days(1), to: to + .milliseconds(1))
                let expected = history.filter { from < $0.end && $0.end <= to }
                #expect(live.filter { $0.metric == metric } == expected)
                if metric != .sport { #expect(expected.count > 0) }
            }
            #expect(live.map(\.end) == live.map(\.end).sorted())
        }
    }

    @Test func `a streamed value of the same moment is the same record`() throws {
        try Setup.play(SimulatorDriver(SimulatorOptions(seed: 3))) { setup in
            try await setup.pass(.minutes(30))
            let streamed = setup.samples.filter { $0.metric == .heartRate }
            #expect((1_800...1_812).contains(streamed.count))
            #expect(Set(streamed.map(\.start)).count == streamed.count)
            let history = try await setup.history(.heartRate, from: Setup.noon, to: Setup.noon + .minutes(30))
            let live = Dictionary(uniqueKeysWithValues: streamed.map { ($0.start, $0) })
            #expect(history.count == 6)
            for sample in history.dropFirst() { #expect(live[sample.start] == sample) }
        }
    }

    @Test func `a value that the stream and the schedule take at the same moment is sent once`() throws {
        let interval = Duration.milliseconds(10)
        // A device whose phase is at the start of the interval, so that its stream includes whole minutes.
        let seed = try #require(
            (0..<200 as Range<UInt64>).first { Wearing(model: .band, seed: $0).noise.unit(.streamPhase) < 0.1 })
        try Setup.play(SimulatorDriver(SimulatorOptions(seed: seed, liveInterval: interval))) { setup in
            try await setup.pass(.minutes(5) + .seconds(1))
            let starts = setup.samples.filter { $0.metric == .heartRate }.map(\.start)
            #expect(starts.contains(Setup.noon + .minutes(5)))
            #expect(Set(starts).count == starts.count)
            #expect(starts.count > 30_000)
        }
    }

    @Test(arguments: [(Duration.milliseconds(10), 6_000), (.milliseconds(250), 240), (.seconds(20), 3)])
    func `streams as often as it was configured`(interval: Duration, count: Int) throws {
        let options = SimulatorOptions(seed: 3, liveInterval: interval)
        try Setup.play(SimulatorDriver(options), at: Setup.noon + .seconds(1)) { setup in
            try await setup.pass(.seconds(60))
            // One of them may be a record of the schedule.
            #expect((count - 1...count + 1).contains(setup.samples.count { $0.metric == .heartRate }))
        }
    }

    @Test(arguments: [Model.ring, .cuff])
    func `does not stream what it cannot`(model: Model) throws {
        try Setup.play(SimulatorDriver(SimulatorOptions(model: model, seed: 3))) { setup in
            try await setup.pass(.minutes(4))
            #expect(setup.samples.isEmpty)
        }
    }

    @Test func `is taken off to be charged, and is silent then`() throws {
        try Setup.play(SimulatorDriver(SimulatorOptions(seed: 3, liveInterval: .seconds(30)))) { setup in
            try await setup.pass(.hours(24))
            var (isWorn, percent, wasCharged) = (true, 100.0, false)
            var changes = 0
            for event in setup.events {
                switch event {
                case .wear(let worn):
                    if worn != isWorn { changes += 1 }
                    isWorn = worn
                case .battery(let value, let isCharging):
                    if isCharging == true { wasCharged = true } else if !wasCharged { #expect(value <= percent) }
                    percent = value
                    #expect((5...100).contains(value))
                case .samples(let samples, _):
                    // A quarter of an hour of steps may end while the device is not worn.
                    if !isWorn { #expect(samples.allSatisfy { $0.metric == .steps }) }
                default: break
                }
            }
            #expect(changes == 2)
            #expect(wasCharged)
            #expect(setup.events.first == .battery(percent: 61, isCharging: false) || percent < 100)
        }
    }

    @Test func `an oximeter speaks while somebody wears it`() throws {
        try Setup.play(SimulatorDriver(SimulatorOptions(model: .oximeter, seed: 3))) { setup in
            try await setup.pass(.hours(4))
            let wears = setup.events.compactMap { if case .wear(let worn) = $0 { worn } else { nil } }
            #expect((7...9).contains(wears.count))
            #expect(Set(setup.samples.map(\.metric)) == [.heartRate, .bloodOxygen])
            #expect((900...2_600).contains(setup.samples.count { $0.metric == .bloodOxygen }))
            #expect(setup.samples.allSatisfy { $0.isUserInitiated })
        }
    }

    @Test func `plays the same, whatever the order of jobs`() throws {
        let runs = try [1, 2, 1].map { seed in
            try Setup.play(SimulatorDriver(SimulatorOptions(seed: 3)), seed: seed) { setup in
                try await setup.pass(.hours(3))
                return setup.events
            }
        }
        #expect(runs[0] == runs[1])
        #expect(runs[0] == runs[2])
        #expect(runs[0].count > 10_000)
    }

    @Test func `a clock that jumps ahead does not flood the gateway, and one that jumps back says nothing twice`()
        throws
    {
        let driver = SimulatorDriver(SimulatorOptions(seed: 3))
        try Setup.play(driver) { setup in
            try await setup.pass(.minutes(2))
            setup.simulation.jumpDate(by: .days(2))
            try await setup.pass(.minutes(2))
            #expect(setup.samples.count < 270)
            let count = setup.samples.count
            setup.simulation.jumpDate(by: .hours(-1))
            try await setup.pass(.minutes(2))
            #expect(setup.samples.count < count + 140)
            #expect(setup.samples.count > count + 100)
        }
    }

    @Test func `two sessions are one device`() throws {
        let driver = SimulatorDriver(SimulatorOptions(seed: 3))
        let schedule = MonitorSchedule(isEnabled: true, start: 0, end: 1440, interval: 45)
        try Setup.play(driver) { setup in
            try await setup.session.setMonitorConfiguration(
                MonitorConfiguration.fixture(of: .stress, schedule: schedule))
        }
        try Setup.play(driver, at: Setup.noon + .days(1)) { setup in
            let kept = try await setup.session.monitorConfiguration(of: .stress)
            #expect(kept.schedule == schedule)
        }
    }

    /// What this thread has had of the processor, whatever others take of it.
    private static var processorTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    @Test func `a thousand devices cost little`() throws {
        let calendar = try #require(LocalCalendar(identifier: "Europe/Berlin"))
        var devices = (0..<1_000).map {
            DeviceState(SimulatorOptions(), seed: UInt64($0), calendar: calendar)
        }
        var feeds = devices.map { _ in LiveFeed(from: Setup.noon) }
        var count = 0
        let began = Self.processorTime
        for second in 1...60 {
            for place in devices.indices {
                let events = feeds[place].due(at: Setup.noon + .seconds(second), from: &devices[place])
                for case .samples(let samples, _) in events { count += samples.count }
            }
        }
        #expect(count >= 60_000)
        // In a debug build; a release build takes a fraction of a second.
        #expect(Self.processorTime - began < .seconds(20))
    }
}
