import Delivery
import GatewayTesting
import TestSupport
import Testing
import Vitals

@Suite struct DeliveryPropertyTests {
    /// The store, the broker and the machine between them, with all events between them in any order.
    private struct Environment {
        var random: SplitMix64
        var machine = DeliveryMachine()
        var entries: [OutboxEntry] = []
        var (facts, answers): (Int64, Int64) = (0, 0)
        var stored: [Lane: Int64] = [:]
        /// Committed entries that the machine does not know yet.
        var unreported: [OutboxEntry] = []
        var pages: [(lane: Lane, after: Int64)] = []
        var flying: [(lane: Lane, number: Int64)] = []
        var states = 0
        var delivered: [Lane: Set<Int64>] = [:]
        var lastSent: [Lane: Int64] = [:]
        var isConnected = false
        var window = 0

        init(seed: UInt64) { random = SplitMix64(seed: seed) }

        mutating func commit() {
            let lane = [Lane.alert, .live, .history, .live, .history].randomElement(using: &random) ?? .live
            facts += 1
            let gap = Gap(metric: nil, from: nil, to: nil, count: 1, reason: .device, at: Fixture.noon)
            add(.fact(Fact(sequence: facts, lane: lane, device: Fixture.device, content: .gap(gap))))
        }

        mutating func answer() {
            answers += 1
            let answer = StoredAnswer(key: "\(answers)", topic: "", correlation: nil, payload: [], at: Fixture.noon)
            add(.answer(number: answers, answer))
        }

        private mutating func add(_ entry: OutboxEntry) {
            entries.append(entry)
            unreported.append(entry)
        }

        func numbers(in lane: Lane) -> [Int64] { entries.filter { $0.lane == lane }.map(\.number) }

        mutating func report() {
            guard !unreported.isEmpty else { return }
            let count = Int.random(in: 1...unreported.count, using: &random)
            machine.committed(Array(unreported.prefix(count)))
            unreported.removeFirst(count)
        }

        mutating func connect() {
            window = Int.random(in: 1...20, using: &random)
            isConnected = true
            flying = []
            states = 0
            lastSent = [:]
            // A reader of pages ends with its connection. A page may arrive while there is no connection, but not on
            // the next one.
            pages = []
            machine.connect(window: window)
        }

        mutating func disconnect() {
            isConnected = false
            machine.disconnect()
            // Entries at the broker may or may not be acknowledged; all others are lost.
            flying = []
        }

        /// Reads a page and hands it to the machine, possibly after reporting more commits to it.
        mutating func readPage() {
            guard !pages.isEmpty else { return }
            let (lane, after) = pages.removeFirst()
            if Int.random(in: 0..<10, using: &random) == 0 { return machine.pageFailed(lane) }
            let begin = max(after, stored[lane] ?? 0)
            let page = entries.filter { $0.lane == lane && $0.number > begin }.prefix(DeliveryMachine.pageSize)
            if Bool.random(using: &random) { report() }
            machine.paged(lane, Array(page))
        }

        /// Whether there was something to do.
        @discardableResult
        mutating func step() -> Bool {
            switch machine.next() {
            case .send(let entry): send(entry.lane, entry.number)
            case .page(let lane, let after): pages.append((lane, after))
            case .rest: return false
            }
            return true
        }

        mutating func send(_ lane: Lane, _ number: Int64) {
            #expect(isConnected)
            #expect(number > lastSent[lane] ?? 0, "in order, and once per connection")
            lastSent[lane] = number
            flying.append((lane, number))
            #expect(flying.count + states <= window)
            #expect(machine.inFlight == flying.count + states)
        }

        mutating func acknowledge() {
            guard isConnected, !flying.isEmpty else { return }
            let (lane, number) = flying.remove(at: Int.random(in: flying.indices, using: &random))
            delivered[lane, default: []].insert(number)
            machine.acknowledged(lane, number)
        }

        mutating func keepWatermarks() {
            for (lane, through) in machine.takeWatermarks() {
                #expect(through > stored[lane] ?? 0)
                for number in numbers(in: lane) where number <= through {
                    #expect(delivered[lane]?.contains(number) == true, "\(lane) \(number) of \(through)")
                }
                stored[lane] = through
            }
        }

        mutating func stepAnyhow() {
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<15: commit()
            case 15..<18: answer()
            case 18..<25: report()
            case 25..<35: readPage()
            case 35..<60: step()
            case 60..<80: acknowledge()
            case 80..<85: keepWatermarks()
            case 85..<87 where machine.hasRoom:
                machine.sentState()
                states += 1
            case 87..<90 where states > 0:
                machine.acknowledgedState()
                states -= 1
            case 90..<92 where isConnected: disconnect()
            case 92..<97 where !isConnected: connect()
            default: break
            }
        }

        /// From now on nothing fails.
        mutating func calm() {
            report()
            if !isConnected { connect() }
            while states > 0 {
                machine.acknowledgedState()
                states -= 1
            }
            for _ in 0..<20_000 {
                if !unreported.isEmpty { report() }
                if !step(), pages.isEmpty, flying.isEmpty, unreported.isEmpty { break }
                if !pages.isEmpty { readPage() }
                acknowledge()
            }
            keepWatermarks()
        }
    }

    @Test(arguments: 0..<200) func `everything arrives, in order per lane, and the watermark passes nothing`(
        seed: UInt64
    ) {
        var environment = Environment(seed: seed)
        for _ in 0..<3_000 { environment.stepAnyhow() }
        environment.calm()
        for lane in Lane.allCases {
            let all = Set(environment.numbers(in: lane))
            #expect(environment.delivered[lane, default: []] == all, "seed \(seed), \(lane)")
            #expect(environment.stored[lane] ?? 0 == all.max() ?? 0)
        }
        #expect(environment.machine.inFlight == 0)
    }
}
