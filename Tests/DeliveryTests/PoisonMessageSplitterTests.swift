import Delivery
import GatewayTesting
import TestSupport
import Testing
import Vitals

@Suite struct PoisonMessageSplitterTests {
    private typealias Item = PoisonMessageSplitter.Item

    private static func fact(_ number: Int64, topic: String = "t") -> Item {
        Item(.entry(.live, number, part: 0), topic: topic, size: 100)
    }

    @Test func `after a few cuts at the same message all go one at a time, and after a few more it is blamed`() {
        var machine = PoisonMessageSplitter()
        for _ in 0..<PoisonMessageSplitter.suspectCuts {
            #expect(!machine.isCareful)
            machine.sent(1, Self.fact(1))
            machine.sent(2, Self.fact(2))
            #expect(machine.cut() == nil)
        }
        #expect(machine.isCareful)
        for _ in 1..<PoisonMessageSplitter.aloneCuts {
            machine.sent(1, Self.fact(1))
            #expect(machine.cut() == nil)
        }
        machine.sent(1, Self.fact(1))
        #expect(machine.cut() == Self.fact(1))
        #expect(machine.isBlamed("t"))
        for number in 2...Int64(PoisonMessageSplitter.carefulMessages + 1) {
            #expect(machine.isCareful)
            machine.sent(number, Self.fact(number))
            machine.settled(number)
        }
        #expect(!machine.isCareful)
        #expect(!machine.isBlamed("t"), "the broker took a message of its topic")
    }

    @Test func `a message that the broker has answered is not suspected`() {
        var machine = PoisonMessageSplitter()
        for number in 0..<20 {
            let uptime = PoisonMessageSplitter.restlessPeriod * 2 * number
            machine.sent(1, Self.fact(1))
            machine.sent(2, Self.fact(2))
            machine.settled(1)
            #expect(machine.cut(at: uptime) == nil)
            machine.sent(2, Self.fact(2))
            machine.settled(2)
            #expect(machine.cut(at: uptime) == nil)
            #expect(!machine.isCareful)
        }
    }

    @Test func `an answer to a topic that the sender chose is given up after few cuts`() {
        var machine = PoisonMessageSplitter()
        let answer = Item(.entry(.answer, 7, part: 0), topic: "mine", size: 100, isChosen: true)
        machine.sent(1, answer)
        #expect(machine.cut() == nil)
        #expect(machine.isCareful)
        for number in 1...PoisonMessageSplitter.doubtfulCuts {
            machine.sent(1, answer)
            #expect(machine.cut() == (number == PoisonMessageSplitter.doubtfulCuts ? answer : nil))
        }
    }

    @Test func `after some cuts in a row messages go one at a time, whichever was the first`() {
        var machine = PoisonMessageSplitter()
        for number in 1..<Int64(PoisonMessageSplitter.restlessCuts) {
            for place in 0..<300 { machine.sent(Int64(place), Self.fact(number * 1_000 + Int64(place))) }
            #expect(machine.cut(at: PoisonMessageSplitter.restlessPeriod * Int(number)) == nil)
            #expect(!machine.isCareful)
        }
        machine.sent(1, Self.fact(1))
        machine.sent(2, Self.fact(2))
        #expect(machine.cut(at: PoisonMessageSplitter.restlessPeriod * PoisonMessageSplitter.restlessCuts) == nil)
        // As long as twice the longest of the connections.
        for number in 1...Int64(600) {
            #expect(machine.isCareful, "\(number)")
            machine.sent(number, Self.fact(number))
            machine.settled(number)
        }
        #expect(!machine.isCareful)
    }

    @Test func `cuts far apart are those of a network`() {
        var machine = PoisonMessageSplitter()
        for number in 0..<Int64(100) {
            machine.sent(1, Self.fact(2 * number))
            machine.sent(2, Self.fact(2 * number + 1))
            #expect(machine.cut(at: (PoisonMessageSplitter.restlessPeriod + .seconds(1)) * Int(number)) == nil)
            #expect(!machine.isCareful)
        }
    }

    /// Each connection begins with all states; new facts come between them, and a cut swallows acknowledgements.
    @Test(arguments: 0..<100) func `a state is found among hundreds, while facts go between`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var machine = PoisonMessageSplitter()
        let states = (0..<Int.random(in: 20...1_000, using: &random)).map { Item(.other, topic: "\($0)", size: 100) }
        let poison = Int.random(in: states.indices, using: &random)
        var (fact, token): (Int64, Int64) = (0, 0)
        var (cuts, blamed): (Int, Item?) = (0, nil)
        while blamed == nil, cuts < 100 {
            var batch: [(Int64, Item)] = []
            // Up to the poison; in a careful connection one at a time.
            for (place, state) in states.prefix(poison + 1).enumerated() {
                let facts = (0..<Int.random(in: 0...2, using: &random)).map { _ in Self.fact(0) }
                for item in facts + [state] {
                    token += 1
                    var item = item
                    if case .entry = item.kind {
                        fact += 1
                        item = Self.fact(fact)
                    }
                    machine.sent(token, item)
                    batch.append((token, item))
                    if machine.isCareful, place < poison || item != state { machine.settled(token) }
                }
            }
            if !machine.isCareful {
                for (token, _) in batch.dropLast().prefix(Int.random(in: 0..<batch.count, using: &random)) {
                    machine.settled(token)
                }
            }
            cuts += 1
            blamed = machine.cut(at: .seconds(cuts))
        }
        #expect(blamed == states[poison], "seed \(seed)")
        #expect(cuts < 20, "seed \(seed)")
    }

    @Test func `a message as long as a blamed one is given up after few cuts, until the broker takes one`() {
        var machine = PoisonMessageSplitter()
        func cutUntilBlamed(_ item: Item) -> Int {
            for count in 1...100 {
                machine.sent(2, Self.fact(0, topic: "taken"))
                machine.settled(2)
                machine.sent(1, item)
                if machine.cut() != nil { return count }
            }
            return .max
        }
        func long(_ topic: String, _ size: Int) -> Item { Item(.other, topic: topic, size: size) }
        #expect(cutUntilBlamed(long("a", 9_000)) == PoisonMessageSplitter.suspectCuts + PoisonMessageSplitter.aloneCuts)
        #expect(cutUntilBlamed(long("b", 9_500)) == PoisonMessageSplitter.doubtfulCuts)
        #expect(cutUntilBlamed(long("c", 8_999)) == PoisonMessageSplitter.aloneCuts)
        machine.sent(1, long("d", 8_999))
        machine.settled(1)
        #expect(cutUntilBlamed(long("e", 9_000)) == PoisonMessageSplitter.aloneCuts)
    }

    @Test func `only so many topics are remembered`() {
        var machine = PoisonMessageSplitter()
        for number in 0...PoisonMessageSplitter.maximumTopics {
            var blamed: Item?
            while blamed == nil { blamed = machine.failed(Self.fact(Int64(number), topic: "\(number)")) }
        }
        #expect(!machine.isBlamed("0"))
        #expect(machine.isBlamed("1"))
        #expect(machine.isBlamed("\(PoisonMessageSplitter.maximumTopics)"))
    }

    /// A broker that takes messages in order, cuts at some of them, and whose network swallows acknowledgements.
    @Test(arguments: 0..<200) func `every poison is found, and nothing else is blamed`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let count: Int64 = 200
        let poison = Set(
            (0..<Int.random(in: 0...3, using: &random)).map { _ in Int64.random(in: 1...count, using: &random) })
        var machine = PoisonMessageSplitter()
        var waiting = Array(1...count)
        var blamed: Set<Int64> = []
        var connections = 0
        while !waiting.isEmpty, connections < 500 {
            connections += 1
            var isCut = false
            while !isCut, !waiting.isEmpty {
                let batch = waiting.prefix(machine.isCareful ? 1 : Int.random(in: 1...20, using: &random))
                for number in batch { machine.sent(number, Self.fact(number, topic: "\(number)")) }
                let end = batch.firstIndex { poison.contains($0) } ?? batch.endIndex
                isCut = end < batch.endIndex
                // A cut may swallow acknowledgements of what the broker had taken, unless the messages go alone.
                let heard = isCut && !machine.isCareful ? Int.random(in: 0...end, using: &random) : end
                for number in batch.prefix(heard) { machine.settled(number) }
                waiting.removeFirst(heard)
            }
            if isCut, let item = machine.cut(), case .entry(_, let number, _) = item.kind {
                blamed.insert(number)
                waiting.removeAll { $0 == number }
            }
        }
        #expect(waiting.isEmpty, "seed \(seed)")
        #expect(blamed == poison, "seed \(seed)")
    }

    @Test func `while the broker takes nothing, a second message is blamed late`() {
        var machine = PoisonMessageSplitter()
        func cutUntilBlamed(_ number: Int64) -> Int {
            for count in 1...1_000 {
                machine.sent(1, Self.fact(number, topic: "\(number)"))
                guard machine.cut() != nil else { continue }
                machine.gaveUp()
                return count
            }
            return .max
        }
        #expect(cutUntilBlamed(1) == PoisonMessageSplitter.suspectCuts + PoisonMessageSplitter.aloneCuts)
        #expect(cutUntilBlamed(2) == PoisonMessageSplitter.unheardCuts)
        machine.sent(1, Self.fact(3))
        machine.settled(1)
        #expect(cutUntilBlamed(4) == PoisonMessageSplitter.aloneCuts)
    }

    @Test func `a message that the broker does not answer is overdue`() {
        var machine = PoisonMessageSplitter()
        machine.sent(1, Self.fact(1), at: .seconds(10))
        machine.sent(2, Self.fact(2), at: .seconds(60))
        #expect(!machine.isOverdue(at: .seconds(10) + PoisonMessageSplitter.answerLimit))
        #expect(machine.isOverdue(at: .seconds(11) + PoisonMessageSplitter.answerLimit))
        machine.settled(1)
        #expect(!machine.isOverdue(at: .seconds(11) + PoisonMessageSplitter.answerLimit))
        machine.closed()
        #expect(!machine.isOverdue(at: .hours(1)))
    }
}
