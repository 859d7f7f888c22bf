import Engines
import GatewayTesting
import Testing
import Vitals

@Suite struct DeliveryPropertyTests {
    private static let factLanes: [Lane] = [.alert, .live, .history]

    /// The store, the broker and the machine between them, with everything in between in any order.
    private struct World {
        var random: SplitMix64
        var machine = DeliveryMachine()
        var facts: [Fact] = []
        var answers: [(number: Int64, answer: StoredAnswer)] = []
        var stored: [Lane: Int64] = [:]
        /// Told to the machine only later.
        var untold: [Fact] = []
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
            let fact = Fact(
                sequence: Int64(facts.count) + 1, lane: lane, device: Fixture.device,
                content: .gap(Gap(metric: nil, from: nil, to: nil, count: 1, reason: .device, at: Fixture.noon)))
            facts.append(fact)
            untold.append(fact)
        }

        mutating func answer() {
            let number = Int64(answers.count) + 1
            answers.append(
                (number, StoredAnswer(key: "\(number)", topic: "", correlation: nil, payload: [], at: Fixture.noon)))
            machine.committedAnswer()
        }

        mutating func tell() {
            guard !untold.isEmpty else { return }
            let count = Int.random(in: 1...untold.count, using: &random)
            machine.committed(Array(untold.prefix(count)))
            untold.removeFirst(count)
        }

        mutating func connect() {
            window = Int.random(in: 1...20, using: &random)
            isConnected = true
            flying = []
            states = 0
            lastSent = [:]
            // Who reads pages ends with its connection; a page may come while there is none, but not on the next one.
            pages = []
            machine.connect(window: window)
        }

        mutating func disconnect() {
            isConnected = false
            machine.disconnect()
            // What the broker has may be acknowledged or not; what it has not is lost.
            flying = []
        }

        /// A page that is read now; it may be handed over later.
        mutating func readPage() {
            guard !pages.isEmpty else { return }
            let (lane, after) = pages.removeFirst()
            if Int.random(in: 0..<10, using: &random) == 0 { return machine.pageFailed(lane) }
            if lane == .answer {
                let begin = max(after, stored[lane] ?? 0)
                return machine.paged(Array(answers.filter { $0.number > begin }.prefix(DeliveryMachine.pageSize)))
            }
            let begin = max(after, stored[lane] ?? 0)
            let page = facts.filter { $0.lane == lane && $0.sequence > begin }.prefix(DeliveryMachine.pageSize)
            if Bool.random(using: &random) { tell() }
            machine.paged(lane, Array(page))
        }

        mutating func step() {
            switch machine.next() {
            case .send(let fact): send(fact.lane, fact.sequence)
            case .sendAnswer(let number, _): send(.answer, number)
            case .page(let lane, let after): pages.append((lane, after))
            case .rest: break
            }
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
                let numbers =
                    lane == .answer
                    ? answers.map(\.number) : facts.filter { $0.lane == lane }.map(\.sequence)
                for number in numbers where number <= through {
                    #expect(delivered[lane]?.contains(number) == true, "\(lane) \(number) of \(through)")
                }
                stored[lane] = through
            }
        }

        mutating func stepAnyhow() {
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<15: commit()
            case 15..<18: answer()
            case 18..<25: tell()
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

        /// Everything goes well from now on.
        mutating func calm() {
            tell()
            if !isConnected { connect() }
            while states > 0 {
                machine.acknowledgedState()
                states -= 1
            }
            for _ in 0..<20_000 {
                if !untold.isEmpty { tell() }
                step()
                if !pages.isEmpty { readPage() }
                acknowledge()
            }
            keepWatermarks()
        }
    }

    @Test(arguments: 0..<200) func `everything arrives, in order per lane, and the watermark passes nothing`(
        seed: UInt64
    ) {
        var world = World(seed: seed)
        for _ in 0..<3_000 { world.stepAnyhow() }
        world.calm()
        for lane in Self.factLanes {
            let all = Set(world.facts.filter { $0.lane == lane }.map(\.sequence))
            #expect(world.delivered[lane, default: []] == all, "seed \(seed), \(lane)")
            #expect(world.stored[lane] ?? 0 == all.max() ?? 0)
        }
        #expect(world.delivered[.answer, default: []] == Set(world.answers.map(\.number)))
        #expect(world.machine.inFlight == 0)
    }
}
