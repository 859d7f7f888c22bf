import Engines
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@Suite struct SyncPropertyTests {
    /// A device with records ordered by start, some with the same start, some added later.
    private struct Device {
        var records: [Sample]
        var forgets: Bool
        var random: SplitMix64

        /// A page of random length, which may repeat records from the end of the page before.
        mutating func page(_ request: HistoryRequest) -> HistoryPage? {
            if Int.random(in: 0..<12, using: &random) == 0 { return nil }
            let all = records.filter { $0.start >= request.from }
            let position = request.page.flatMap { Int($0.split(separator: "/")[0]) } ?? 0
            let begin = max(0, min(position, all.count) - Int.random(in: 0...1, using: &random))
            let end = min(all.count, max(begin + 1, position + Int.random(in: 1...9, using: &random)))
            guard begin < end else { return HistoryPage(samples: []) }
            let name = "\(end)/\(UInt64.random(in: 0 ... .max, using: &random))"
            return HistoryPage(samples: Array(all[begin..<end]), next: end < all.count ? name : nil)
        }
    }

    private func records(_ random: inout SplitMix64) -> [Sample] {
        (0..<Int.random(in: 0...60, using: &random)).map { _ in
            var sample = Fixture.heartRate(
                Double.random(in: 40...150, using: &random), at: Int.random(in: -20_000 ... -1, using: &random) / 7 * 7,
                isManual: Bool.random(using: &random))
            if Int.random(in: 0..<10, using: &random) == 0 {
                sample.end = Fixture.noon + .minutes(Int.random(in: 6...600, using: &random))
                // It lasts up to seven days, or else is a moment in the future.
                if sample.duration > .days(7) { sample.start = sample.end }
            }
            return sample
        }.sorted { $0.start < $1.start }
    }

    @Test(arguments: 0..<400) func `after enough jobs everything is taken, and only what is on disk was acknowledged`(
        seed: UInt64
    ) {
        var random = SplitMix64(seed: seed)
        var device = Device(records: records(&random), forgets: Bool.random(using: &random), random: random.split())
        let all = device.records
        var environment = Environment(policy: SyncPolicy(overlap: .minutes(Int.random(in: 0...30, using: &random))))
        for job in 0..<40 {
            // New records follow the last one.
            if job < 5 {
                device.records.append(Fixture.heartRate(70, at: 10 + job))
                device.records.sort { $0.start < $1.start }
            }
            environment.now = Fixture.minute(10 + job)
            environment.run(&device, isCommanded: job % 5 == 4, &random)
        }
        // All records are in the past now, and nothing fails any more.
        environment.now = Fixture.minute(1_000)
        for _ in 0..<200 where !environment.run(&device, isCommanded: false, &random, isCalm: true) {}
        let missing = Set(all).union(device.records).subtracting(environment.disk)
        #expect(missing.isEmpty, "seed \(seed): \(missing.map(\.start))")
    }

    private struct Environment {
        let policy: SyncPolicy
        var now = Fixture.noon
        var disk: Set<Sample> = []
        var cursor: Timestamp?
        var lastSuccess: Timestamp?

        init(policy: SyncPolicy) { self.policy = policy }

        /// Runs a job that may fail at any point. Returns whether it succeeded.
        @discardableResult
        mutating func run(
            _ device: inout Device, isCommanded: Bool, _ random: inout SplitMix64, isCalm: Bool = false
        ) -> Bool {
            var machine = SyncMachine(policy: policy, calendar: Fixture.utc, lastSuccessAt: lastSuccess)
            var job = SyncJob(name: "job", metrics: [.heartRate])
            if isCommanded { job.from = Fixture.minute(Int.random(in: -20_000...10, using: &random)) }
            let cursors = cursor.map { [Metric.heartRate: $0] } ?? [:]
            var events: [SyncMachine.Event] = [
                .start(job, cursors: cursors, capabilities: Capabilities([.heartRate: [.history]]))
            ]
            var finished = 0
            while !events.isEmpty {
                for action in machine.handle(events.removeFirst(), at: now) {
                    let breaks = !isCalm && Int.random(in: 0..<15, using: &random) == 0
                    switch action {
                    case .read where breaks: events = [.disconnected]
                    case .read(let request):
                        events.append(device.page(request).map { .page($0) } ?? .failed(.deviceError, "no"))
                    case .ingest where breaks: events.append(.failed(.deviceError, "the disk is full"))
                    case .ingest(let samples, _, let moved, _):
                        let new = Set(samples).subtracting(disk).count
                        disk.formUnion(samples)
                        if let moved {
                            #expect(cursor.map { moved > $0 } ?? true)
                            cursor = moved
                        }
                        events.append(.committed(new: new, known: samples.count - new))
                    case .acknowledge(_, let through):
                        let forgotten = device.records.filter { $0.start <= through }
                        let lost = Set(forgotten).subtracting(disk)
                        #expect(
                            lost.isEmpty,
                            "through \(through) at \(now), cursor \(cursors): \(lost.map(\.start)), \(job.from)")
                        if device.forgets { device.records.removeAll { $0.start <= through } }
                    case .finished(_, let state):
                        finished += 1
                        lastSuccess = state.lastSuccessAt
                        #expect(finished == 1)
                    case .report(_, _, let moved):
                        cursor = moved ?? cursor
                        events.append(.reported(isStored: true))
                    case .publish, .wasRead, .finishedMetric, .summarise: break
                    }
                }
            }
            #expect(finished == 1)
            #expect(machine.job == nil)
            return machine.state.phase == .idle
        }
    }
}
