import Delivery
import Testing
import Vitals

@Suite struct DeliveryMachineTests {
    private func fact(_ number: Int64, _ lane: Lane, weight: Int = 1) -> OutboxEntry {
        let sample = Fixture.heartRate(60)
        let samples = [StoredSample](repeating: sample, count: weight)
        return .fact(
            Fact(
                sequence: number, lane: lane, device: Fixture.device,
                content: .measurement(
                    Fact.Measurement(
                        metric: .heartRate, source: .live, isHistorical: false, user: nil, samples: samples))))
    }

    private func answer(_ number: Int64, bytes: Int = 0, isPayload: Bool = true) -> OutboxEntry {
        let bytes = [UInt8](repeating: 0, count: bytes)
        return .answer(
            number: number,
            StoredAnswer(
                key: "\(number)", topic: "t", correlation: isPayload ? nil : bytes, payload: isPayload ? bytes : [],
                at: Fixture.noon))
    }

    /// A connected machine without waiting entries.
    private func connected(window: Int = 100) -> DeliveryMachine {
        var machine = DeliveryMachine()
        machine.connect(window: window)
        while case .page(let lane, _) = machine.next() { machine.paged(lane, []) }
        return machine
    }

    /// The numbers of the entries it sends until it is idle.
    private func drain(_ machine: inout DeliveryMachine) -> [Int64] {
        var numbers: [Int64] = []
        while true {
            switch machine.next() {
            case .send(let entry): numbers.append(entry.lane == .answer ? 1000 + entry.number : entry.number)
            case .page, .rest: return numbers
            }
        }
    }

    @Test func `a watermark that could not be kept is offered again`() {
        var machine = connected()
        machine.committed([fact(1, .alert), fact(2, .live)])
        #expect(drain(&machine) == [1, 2])
        machine.acknowledged(.alert, 1)
        machine.acknowledged(.live, 2)
        #expect(machine.takeWatermarks().map(\.through) == [1, 2])
        machine.watermarkFailed(.alert)
        #expect(machine.takeWatermarks().map(\.lane) == [.alert])
        #expect(machine.takeWatermarks().isEmpty)
    }

    @Test func `counts the messages of each stage, and what is sent again twice`() {
        var machine = connected()
        machine.committed([fact(1, .live), fact(2, .live), fact(3, .alert)])
        #expect(drain(&machine) == [3, 1, 2])
        machine.acknowledged(.live, 1)
        machine.acknowledged(.live, 1)
        machine.connect(window: 100)
        if case .page(let lane, _) = machine.next() { machine.paged(lane, [fact(3, .alert)]) }
        #expect(drain(&machine) == [3])
        let (live, alert) = (machine.counts(of: .live), machine.counts(of: .alert))
        #expect([live.stored, live.sent, live.acknowledged] == [2, 2, 1])
        #expect([alert.stored, alert.sent, alert.acknowledged] == [1, 2, 0])
        #expect(machine.counts(of: .history) == LaneCounts())
    }

    @Test func `does nothing without a connection`() {
        var machine = DeliveryMachine()
        machine.committed([fact(1, .live)])
        #expect(machine.next() == .rest)
        #expect(!machine.hasRoom)
    }

    @Test func `reads every lane from the store first`() {
        var machine = DeliveryMachine()
        machine.connect(window: 10)
        var lanes: [Lane] = []
        while case .page(let lane, let after) = machine.next() {
            #expect(after == 0)
            lanes.append(lane)
        }
        #expect(lanes == [.alert, .answer, .live, .history])
        #expect(machine.next() == .rest)
    }

    @Test func `serves the lanes by urgency, each in its order`() {
        var machine = connected()
        machine.committed([
            fact(1, .history), answer(1), fact(2, .live), fact(3, .alert), answer(2), fact(4, .live),
        ])
        #expect(drain(&machine) == [3, 1001, 1002, 2, 4, 1])
        #expect(machine.inFlight == 6)
    }

    @Test func `sends no more than the window, and goes on with each acknowledgement`() {
        var machine = connected(window: 2)
        machine.committed((1...5).map { fact($0, .live) })
        #expect(drain(&machine) == [1, 2])
        machine.acknowledged(.live, 1)
        #expect(drain(&machine) == [3])
        machine.sentState()
        machine.acknowledged(.live, 2)
        #expect(drain(&machine) == [])
        machine.acknowledgedState()
        #expect(drain(&machine) == [4])
    }

    @Test func `the watermark waits for the gap, whatever is acknowledged behind it`() {
        var machine = connected()
        machine.committed((1...4).map { fact($0, .live) })
        _ = drain(&machine)
        machine.acknowledged(.live, 2)
        machine.acknowledged(.live, 4)
        #expect(machine.takeWatermarks().isEmpty)
        machine.acknowledged(.live, 1)
        #expect(machine.takeWatermarks().map(\.through) == [2])
        #expect(machine.takeWatermarks().isEmpty)
        machine.acknowledged(.live, 3)
        #expect(machine.takeWatermarks().map(\.through) == [4])
    }

    @Test func `acknowledgements that belong to nothing make no room`() {
        var machine = connected(window: 2)
        machine.committed((1...3).map { fact($0, .live) })
        _ = drain(&machine)
        machine.acknowledged(.live, 99)
        machine.acknowledged(.alert, 1)
        machine.acknowledged(.live, 2)
        machine.acknowledged(.live, 2)
        #expect(machine.inFlight == 1)
    }

    @Test func `after a lost connection sends again what was not acknowledged`() {
        var machine = connected()
        machine.committed((1...3).map { fact($0, .live) })
        _ = drain(&machine)
        machine.acknowledged(.live, 1)
        machine.disconnect()
        machine.committed([fact(4, .live)])
        machine.connect(window: 10)
        var pages: [Lane: Int64] = [:]
        while case .page(let lane, let after) = machine.next() { pages[lane] = after }
        #expect(pages[.live] == 1)
        machine.paged(.live, [fact(2, .live), fact(3, .live), fact(4, .live)])
        #expect(drain(&machine) == [2, 3, 4])
    }

    @Test func `a page that nobody asked for on this connection is not taken`() {
        var machine = connected()
        machine.committed([fact(1, .live), fact(2, .live)])
        _ = drain(&machine)
        machine.disconnect()
        machine.connect(window: 10)
        machine.paged(.live, [fact(3, .live)])
        #expect(drain(&machine) == [])
        while case .page = machine.next() {}
        machine.paged(.live, [fact(1, .live), fact(2, .live), fact(3, .live)])
        #expect(drain(&machine) == [1, 2, 3])
    }

    @Test func `what was committed while a page was read is sent once, and not forgotten`() {
        var machine = connected()
        machine.disconnect()
        machine.connect(window: 10)
        while case .page = machine.next() {}
        machine.committed([fact(1, .live), fact(2, .live)])
        machine.paged(.live, [fact(1, .live)])
        #expect(drain(&machine) == [1])
        machine.paged(.live, [fact(2, .live)])
        machine.committed([fact(2, .live)])
        #expect(drain(&machine) == [2])
    }

    @Test func `facts that were dropped from the store meanwhile do not make it read for ever`() {
        var machine = DeliveryMachine()
        machine.committed([fact(7, .live)])
        machine.connect(window: 10)
        while case .page(let lane, _) = machine.next() { machine.paged(lane, []) }
        #expect(machine.next() == .rest)
    }

    @Test func `what does not fit into memory is read back from the store`() {
        var machine = connected(window: 1_000)
        let facts = (1...150).map { fact($0, .history, weight: 200) }
        machine.committed(facts)
        let sent = drain(&machine)
        #expect(sent == Array(1...Int64(DeliveryMachine.maximumWaiting / 200)))
        machine.paged(.history, Array(facts.dropFirst(sent.count)))
        #expect(drain(&machine) == Array((Int64(sent.count) + 1)...150))
    }

    @Test func `long sleeps fill the memory sooner than other samples, and are read back, too`() {
        var machine = connected(window: 1_000)
        let stages = [Sleep.Stage](repeating: .init(.rem, from: Fixture.noon, to: Fixture.noon), count: 2_880)
        let sample = Sample(metric: .sleep, start: Fixture.noon, reading: .sleep(Sleep(stages: stages)))
        let stored = StoredSample(
            sample: sample, of: Fixture.device, revision: 1, receivedAt: Fixture.noon)
        let facts = (1...100).map { number in
            OutboxEntry.fact(
                Fact(
                    sequence: number, lane: .history, device: Fixture.device,
                    content: .measurement(
                        Fact.Measurement(
                            metric: .sleep, source: .sync, isHistorical: true, user: nil, samples: [stored]))))
        }
        machine.committed(facts)
        let sent = drain(&machine)
        #expect(sent == Array(1...Int64(DeliveryMachine.maximumWaiting / sample.weight + 1)))
        machine.paged(.history, Array(facts.dropFirst(sent.count)))
        #expect(drain(&machine).last == 100)
    }

    @Test(arguments: [true, false])
    func `answers that do not fit into memory are read back as facts are, whatever makes them long`(isPayload: Bool) {
        var machine = connected(window: 1_000)
        let answers = (1...60).map { answer($0, bytes: 512 * 1_000, isPayload: isPayload) }
        machine.committed(answers)
        let sent = drain(&machine)
        #expect(sent == (1...Int64(DeliveryMachine.maximumWaiting / 1_000)).map { 1000 + $0 })
        machine.paged(.answer, Array(answers.dropFirst(sent.count)))
        #expect(drain(&machine).last == 1060)
    }

    @Test func `a page that could not be read is asked for again`() {
        var machine = DeliveryMachine()
        machine.connect(window: 10)
        while case .page = machine.next() {}
        machine.pageFailed(.live)
        #expect(machine.next() == .page(.live, after: 0))
    }

    @Test func `a full page is followed by the next one`() {
        var machine = DeliveryMachine()
        machine.connect(window: 1_000)
        while case .page = machine.next() {}
        machine.paged(.live, (1...Int64(DeliveryMachine.pageSize)).map { fact($0, .live) })
        for _ in 0..<DeliveryMachine.pageSize { #expect(machine.next() != .rest) }
        #expect(machine.next() == .page(.live, after: Int64(DeliveryMachine.pageSize)))
    }
}
