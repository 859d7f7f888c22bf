import Engines
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

/// Gateways that read a history with refused records, and break at any point.
@Suite struct RefusedRecordsPropertyTests {
    private enum Break: CaseIterable { case crashBefore, crashAfter, storeFails, deviceFails, disconnects }

    /// A device, and what a store has of it.
    private struct Environment {
        var random: SplitMix64
        var now = Fixture.noon
        var records: [Sample] = []
        let forgets: Bool
        var machine: SyncMachine
        var disk: Set<Sample> = []
        var cursor: Timestamp?
        var announced = 0

        init(seed: UInt64) {
            random = SplitMix64(seed: seed)
            forgets = Bool.random(using: &random)
            machine = Self.makeMachine()
            for number in 0..<Int.random(in: 1...80, using: &random) { add(at: -400 + number / 3 * 3) }
        }

        static func makeMachine() -> SyncMachine {
            SyncMachine(policy: SyncPolicy(), calendar: Fixture.utc, lastSuccessAt: nil)
        }

        mutating func add(at minute: Int) {
            let isRefused = Int.random(in: 0..<3, using: &random) > 0
            records.append(Fixture.heartRate(isRefused ? 900 : Double.random(in: 50...90, using: &random), at: minute))
        }

        mutating func page(_ request: HistoryRequest) -> HistoryPage {
            let rest = records.filter { $0.start >= request.from }
            let begin = request.page.flatMap { Int($0) } ?? 0
            let end = min(rest.count, begin + Int.random(in: 1...7, using: &random))
            guard begin < end else { return HistoryPage(samples: []) }
            return HistoryPage(samples: Array(rest[begin..<end]), next: end < rest.count ? "\(end)" : nil)
        }

        mutating func store(_ samples: [Sample], cursor moved: Timestamp?, gap: Gap?) {
            disk.formUnion(samples)
            cursor = moved ?? cursor
            announced += gap?.count ?? 0
        }

        /// Returns whether the synchronisation succeeded; `nil` after a crash.
        mutating func synchronise(isCalm: Bool) -> Bool? {
            var events: [SyncMachine.Event] = [
                .start(
                    SyncJob(name: "job", metrics: [.heartRate]), cursors: cursor.map { [.heartRate: $0] } ?? [:],
                    capabilities: Capabilities([.heartRate: [.history]]))
            ]
            while !events.isEmpty {
                now = now + .seconds(Int.random(in: 0...30, using: &random))
                for action in machine.handle(events.removeFirst(), at: now) {
                    let fault =
                        isCalm || Int.random(in: 0..<8, using: &random) > 0
                        ? nil : Break.allCases.randomElement(using: &random)
                    switch (action, fault) {
                    case (.read, .disconnects): events = [.disconnected]
                    case (.read, .deviceFails): events.append(.failed(.deviceError, "Not now."))
                    case (.read(let request), _): events.append(.page(page(request)))
                    case (.ingest, .storeFails): events.append(.failed(.deviceError, "The disk is full."))
                    case (.report, .storeFails): events.append(.reported(isStored: false))
                    case (.ingest, .crashBefore), (.report, .crashBefore): return nil
                    case (.ingest(let samples, _, let cursor, let gap), _):
                        store(samples, cursor: cursor, gap: gap)
                        if fault == .crashAfter { return nil }
                        events.append(.committed(new: samples.count, known: 0))
                    case (.report(let gap, _, let cursor), _):
                        store([], cursor: cursor, gap: gap)
                        if fault == .crashAfter { return nil }
                        events.append(.reported(isStored: true))
                    case (.acknowledge(_, let through), _): if forgets { records.removeAll { $0.start <= through } }
                    case (.publish, _), (.wasRead, _), (.finishedMetric, _), (.summarise, _), (.finished, _): break
                    }
                }
            }
            return machine.state.phase == .idle
        }
    }

    @Test(arguments: 0..<100) func `each refused record is announced once, wherever a reading or the gateway breaks`(
        seed: UInt64
    ) {
        var environment = Environment(seed: seed)
        var made = environment.records
        for round in 0..<25 {
            let isCalm = round >= 15
            if environment.synchronise(isCalm: isCalm) == nil { environment.machine = Environment.makeMachine() }
            guard round < 12 else { continue }
            let count = environment.records.count
            environment.now = environment.now + .minutes(10)
            environment.add(at: Int((environment.now - Fixture.noon) / .minutes(1)) - 1)
            made += environment.records[count...]
        }
        let refused = made.filter { !$0.isValid }
        #expect(environment.announced == refused.count, "seed \(seed)")
        #expect(Set(made).subtracting(refused).subtracting(environment.disk).isEmpty, "seed \(seed)")
    }
}
