import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import Engines

/// Live samples wait for a batch, and for nothing else.
@Suite struct AgentBatchTests {
    private static let within: Duration = .seconds(1)

    private func rig(_ environment: Simulation) -> AgentRig {
        AgentRig(
            environment, policy: DevicePolicy(alerts: AlertPolicy(count: [:]), calendar: Fixture.utc),
            batchWindow: Self.within)
    }

    private func live(_ rig: AgentRig, _ values: Double..., at second: Int, receipts: [String] = []) async {
        let samples = values.enumerated().map { index, value in
            Sample(
                metric: .heartRate, start: Fixture.noon + .seconds(second) + .milliseconds(index),
                reading: .value(value))
        }
        await rig.session?.send(.samples(samples, receipts: receipts.map { SampleReceipt($0) }))
    }

    /// Waits until a number of live samples is committed. Returns when that was.
    private func commit(_ rig: AgentRig, of count: Int) async throws -> Duration {
        func isThere() -> Bool {
            rig.store.facts.compactMap(\.asMeasurement).filter { $0.source == .live }.flatMap(\.samples).count >= count
        }
        while !isThere() { try await rig.sleep(for: .milliseconds(1)) }
        return rig.uptime
    }

    @Test func `the first sample does not wait, and later ones wait until a second after it`() throws {
        try AgentRig.synced(from: { rig($0) }) { rig, _ in
            let start = rig.uptime
            await live(rig, 60, at: 0)
            let first = try await commit(rig, of: 1)
            #expect(first - start <= .milliseconds(5))
            for number in 1...3 {
                try await rig.sleep(for: .milliseconds(200))
                await live(rig, 60, at: number)
            }
            let rest = try await commit(rig, of: 4)
            #expect(rest - first <= Self.within + .milliseconds(10))
            #expect(rest - first >= Self.within - .milliseconds(10))
            try await rig.sleep(for: .seconds(2))
            let again = rig.uptime
            await live(rig, 60, at: 9)
            #expect(try await commit(rig, of: 5) - again <= .milliseconds(5))
        } then: { rig in
            // The three that waited share a message.
            let sizes = rig.store.facts.compactMap { $0.asMeasurement?.samples.count }
            #expect(sizes == [1, 3, 1])
        }
    }

    @Test func `whom somebody waits for does not wait`() throws {
        try AgentRig.synced(from: { rig($0) }) { rig, agent in
            try await rig.limitRestingRate(of: agent)
            await live(rig, 60, at: 0)
            _ = try await commit(rig, of: 1)

            var start = rig.uptime
            await live(rig, 61, at: 1)
            await live(rig, 62, at: 2, receipts: ["a"])
            #expect(try await commit(rig, of: 3) - start <= .milliseconds(5))
            start = rig.uptime
            await live(rig, 130, at: 3)
            try await rig.wait { $0.asLevel?.isActive == true }
            #expect(try await commit(rig, of: 4) - start <= .milliseconds(5))
            start = rig.uptime
            await live(rig, 131, at: 4)
            await rig.session?.send(.battery(percent: 50, isCharging: nil))
            #expect(try await commit(rig, of: 6) - start <= .milliseconds(5))
            // A command is answered, and a page is stored, while samples wait.
            start = rig.uptime
            await live(rig, 132, at: 5)
            _ = try await rig.ask(.sync(metrics: [], from: nil, to: nil), "s", of: agent)
            #expect(rig.uptime - start <= .milliseconds(100))
        }
    }

    @Test func `sixty-four samples of all devices do not wait for more`() throws {
        try Simulation.run(seed: 1, deadline: .hours(1)) { environment in
            let window = BatchWindow(within: Self.within, clock: environment.gatewayClock)
            #expect(await window.wait() == false)
            let start = environment.uptime
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<4 { group.addTask { #expect(await window.wait()) } }
                for _ in 0..<BatchWindow.batchSize - 1 { window.add(1) }
                try? await environment.gatewayClock.sleep(for: .milliseconds(100))
                window.add(1)
                await group.waitForAll()
            }
            #expect(environment.uptime - start == .milliseconds(100))
        }
    }

    @Test func `the others go on when the device that watches the time for all leaves`() throws {
        try Simulation.run(seed: 1, deadline: .hours(1)) { environment in
            let clock = environment.gatewayClock
            let window = BatchWindow(within: Self.within, clock: clock)
            #expect(await window.wait() == false)
            let start = environment.uptime
            await withTaskGroup(of: Void.self) { all in
                all.addTask {
                    // It begins to wait first, and leaves.
                    _ = await clock.withTimeout(.milliseconds(100)) { _ = await window.wait() }
                }
                try? await clock.sleep(for: .milliseconds(50))
                for _ in 0..<3 { all.addTask { #expect(await window.wait()) } }
                await all.waitForAll()
            }
            #expect(environment.uptime - start == .milliseconds(100))
        }
    }

    @Test func `what waits when a session ends is stored, and not before the store takes it`() throws {
        try AgentRig.synced(from: { rig($0) }) { rig, _ in
            await live(rig, 60, at: 0)
            _ = try await commit(rig, of: 1)
            await live(rig, 61, at: 1)
            try await rig.sleep(for: .milliseconds(1))
            rig.store.fail { $0 == .ingest ? StoreError(.full, "full") : nil }
            rig.session?.disconnect()
            try await rig.waitForLink(.waiting)
            rig.store.fail(nil)
            _ = try await commit(rig, of: 2)
        } then: { rig in
            let value = try await rig.store.samples(of: Fixture.device).count
            #expect(value == 2)
        }
    }

    @Test func `keeps only a few long sleeps while the store takes nothing`() throws {
        @Sendable func sleep(_ day: Int) -> Sample {
            let start = Fixture.noon - .days(day + 1)
            let stages = [Sleep.Stage](repeating: .init(.rem, from: start, to: start), count: SampleLimits.stages)
            return Sample(metric: .sleep, start: start, end: start + .hours(8), reading: .sleep(Sleep(stages: stages)))
        }
        let most = LiveIngest.maximumKept / sleep(0).weight
        try AgentRig.synced(0..<2, from: { rig($0) }) { rig, _ in
            rig.store.fail { $0 == .ingest ? StoreError(.full, "full") : nil }
            for days in [[4, 3, 2, 1, 0], [14, 13, 12, 11, 10, 9, 8, 7, 6, 5]] {
                await rig.session?.send(.samples(days.map { sleep($0) }, receipts: []))
                try await rig.sleep(for: .milliseconds(1))
                try await reconnect(rig)
            }
            rig.store.fail(nil)
            _ = try await commit(rig, of: most)
        } then: { rig in
            let stored = try await rig.store.samples(of: Fixture.device).filter { $0.sample.metric == .sleep }
            #expect(stored.count == most)
            // The last that came are kept.
            #expect(Set(stored.map(\.sample.start)).isSuperset(of: (5...14).map { sleep($0).start }))
        }
    }

    @Test func `keeps the newest four thousand samples from session to session while the store takes nothing`() throws {
        let most = LiveIngest.maximumKept
        try AgentRig.synced(0..<3, from: { rig($0) }) { rig, _ in
            @Sendable func burst(_ numbers: Range<Int>) async {
                let samples = numbers.map { number in
                    Sample(
                        metric: .heartRate, start: Fixture.noon + .milliseconds(number),
                        reading: .value(60 + Double(number % 40)))
                }
                // One cannot be true. It is counted once, however often the others are tried.
                let impossible = Sample(metric: .heartRate, start: Fixture.noon - .seconds(1), reading: .value(0))
                await rig.session?.send(.samples(numbers.contains(0) ? [impossible] + samples : samples, receipts: []))
            }
            rig.store.fail { $0 == .ingest ? StoreError(.full, "full") : nil }
            for numbers in [0..<most - 100, most - 100..<most + 50] {
                await burst(numbers)
                try await rig.sleep(for: .milliseconds(1))
                try await reconnect(rig)
            }
            rig.store.fail(nil)
            _ = try await commit(rig, of: most)
        } then: { rig in
            let stored = try await rig.store.samples(of: Fixture.device)
            #expect(stored.count == most)
            #expect(stored.map(\.sample.start).min() == Fixture.noon + .milliseconds(50))
            // The dropped ones are announced.
            let gaps = rig.gaps
            #expect(gaps.reduce(0) { $0 + ($1.refused[.notStored] ?? 0) } == 50)
            #expect(gaps.compactMap(\.to).max() == Fixture.noon + .milliseconds(49))
            #expect(gaps.reduce(0) { $0 + ($1.refused[.outOfRange] ?? 0) } == 1)
        }
    }

    @Test func `a dropped sample that the device sends again for want of a receipt is not announced as lost`() throws {
        let most = LiveIngest.maximumKept
        try AgentRig.synced(0..<3, from: { rig($0) }) { rig, _ in
            @Sendable func burst(_ numbers: Range<Int>, hasReceipts: Bool) async {
                let samples = numbers.map { number in
                    Sample(
                        metric: .heartRate, start: Fixture.noon + .milliseconds(number),
                        reading: .value(60 + Double(number % 40)))
                }
                let receipts = hasReceipts ? numbers.map { SampleReceipt("\($0)") } : []
                await rig.session?.send(.samples(samples, receipts: receipts))
            }
            rig.store.fail { $0 == .ingest ? StoreError(.full, "full") : nil }
            // Of the 50 samples that are dropped, the device still has the first 30.
            for (numbers, hasReceipts) in [(0..<30, true), (30..<most, false), (most..<most + 50, false)] {
                await burst(numbers, hasReceipts: hasReceipts)
                try await rig.sleep(for: .milliseconds(1))
                try await reconnect(rig)
            }
            rig.store.fail(nil)
            _ = try await commit(rig, of: most)
            await burst(0..<30, hasReceipts: true)
            _ = try await commit(rig, of: most + 30)
        } then: { rig in
            let value = try await rig.store.samples(of: Fixture.device).count
            #expect(value == most + 30)
            let gaps = rig.gaps
            #expect(gaps.reduce(0) { $0 + ($1.refused[.notStored] ?? 0) } == 20)
            #expect(gaps.compactMap(\.from).min() == Fixture.noon + .milliseconds(30))
        }
    }

    /// Ends the session, and waits for the next one.
    private func reconnect(_ rig: AgentRig) async throws {
        let count = rig.count
        rig.session?.disconnect()
        try await rig.waitForLink(.connected, after: count)
    }
}
