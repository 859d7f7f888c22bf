import Concurrency
import MQTT
import TestSupport
import Testing
import Vitals

@testable import Delivery

/// What the watch hears of the tasks of a connection.
@Suite(.timeLimit(.minutes(1))) struct BrokerStatusTests {
    /// Asks, and returns whether an answer has come after many turns of the other tasks, and after `act`.
    private func ask(
        _ status: BrokerStatus, hasWork: Bool, then act: @escaping @Sendable () -> Void
    ) async -> (early: Bool, late: Bool) {
        let answers = Recorder<Void>()
        return await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await status.answer(hasWork: hasWork)
                answers.append(())
            }
            for _ in 0..<1_000 { await Task.yield() }
            let early = !answers.elements.isEmpty
            act()
            await group.waitForAll()
            return (early, !answers.elements.isEmpty)
        }
    }

    @Test func `a sender that rests with nothing to send is well, and one that rests with something is not`() async {
        let status = BrokerStatus()
        #expect(await ask(status, hasWork: false) {} == (true, true))
        #expect(await ask(status, hasWork: true) { status.sending.turn() } == (false, true))
        #expect(await ask(status, hasWork: true) { status.sending.end() } == (false, true))
    }

    @Test func `a sender or a receiver that takes no turn is not well`() async {
        let status = BrokerStatus()
        status.sending.begin()
        #expect(await ask(status, hasWork: false) { status.sending.turn() } == (false, true))
        status.sending.end()
        status.receiving.begin()
        #expect(await ask(status, hasWork: false) { status.receiving.end() } == (false, true))
    }

    @Test func `there is work while an entry waits and the window has room`() {
        let outbox = Outbox()
        #expect(!outbox.hasWork)
        outbox.connect(window: 1)
        #expect(outbox.hasWork)
        for lane in [Lane.alert, .answer, .live, .history] {
            #expect(outbox.next() == .page(lane, after: 0))
            #expect(!outbox.hasWork, "the store reads")
            outbox.paged(lane, [])
        }
        #expect(!outbox.hasWork)
        let answer = StoredAnswer(
            key: "k", topic: "t", correlation: nil, payload: [], at: Fixture.noon)
        outbox.committed([.answer(number: 1, answer)])
        #expect(outbox.hasWork)
        outbox.sentState()
        #expect(!outbox.hasWork, "the window is full")
    }

    @Test func `an absence is said once and then seldom, and a connection where an absence was`() {
        let status = BrokerStatus()
        #expect(status.connected(.v5))
        let lost = status.failed("It was closed.", at: .seconds(100), hasLasted: true)
        #expect(lost.count == 1 && lost.isDue)
        let away = status.failed("It is not there.", at: .seconds(101), hasLasted: false)
        #expect(away.count == 2 && away.isDue)
        let still = status.failed("It is not there.", at: .seconds(102), hasLasted: false)
        #expect(still.count == 3 && !still.isDue)
        #expect(status.snapshot.lastError == "It is not there.")
        #expect(status.connected(.v5))
        // It is cut at once, again and again.
        let cut = status.failed("It was closed.", at: .seconds(103), hasLasted: false)
        #expect(cut.count == 4 && !cut.isDue)
        #expect(!status.connected(.v5))
        let lostAgain = status.failed("It was closed.", at: .seconds(200), hasLasted: true)
        #expect(lostAgain.count == 1 && lostAgain.isDue)
        #expect(status.connected(.v5))
    }

    @Test func `a fifth end of the connection within a minute is said, and then seldom, until a minute is calm`() {
        let status = BrokerStatus()
        for second in 0..<BrokerStatus.suspiciousCuts - 1 { #expect(status.cut(at: .seconds(second * 10)) == nil) }
        #expect(status.cut(at: .seconds(45)) == BrokerStatus.suspiciousCuts)
        #expect(status.cut(at: .seconds(46)) == nil)
        // A minute without one is over.
        #expect(status.cut(at: .seconds(106)) == nil)
        for second in 170..<174 { #expect(status.cut(at: .seconds(second)) == nil) }
        #expect(status.cut(at: .seconds(174)) == 5)
    }
}
