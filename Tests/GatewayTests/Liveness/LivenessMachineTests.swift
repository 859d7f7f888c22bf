import Gateway
import Testing
import Vitals

@Suite struct LivenessMachineTests {
    private static let limits: [LivenessPart: Duration] = [.timers: .seconds(10), .delivery: .seconds(20)]

    /// Checks once a second, and answers for the parts in `answering`.
    private func run(
        _ board: inout LivenessMachine, from start: Int, to end: Int, answering: Set<LivenessPart>
    ) -> [LivenessMachine.Check] {
        (start...end).map { second in
            let check = board.check(at: .seconds(second))
            for question in check.asked where answering.contains(question.part) {
                board.answered(question, at: .seconds(second))
            }
            return check
        }
    }

    @Test func `asks every part every two seconds, as long as it answers`() {
        var board = LivenessMachine(limits: Self.limits)
        #expect(!board.isComplete)
        let checks = run(&board, from: 0, to: 100, answering: [.timers, .delivery])
        for (second, check) in checks.enumerated() {
            #expect(Set(check.asked.map(\.part)) == (second % 2 == 0 ? [.timers, .delivery] : []))
            #expect(check.fallen.isEmpty)
        }
        #expect(board.isComplete)
    }

    @Test func `a part is late after its limit, is reported once, and recovers with its answer`() throws {
        var board = LivenessMachine(limits: Self.limits)
        let checks = run(&board, from: 0, to: 21, answering: [])
        #expect(checks[10].fallen.isEmpty)
        #expect(checks[11].fallen == [.timers: .seconds(11)])
        #expect(checks[12].fallen.isEmpty)
        #expect(checks[21].fallen == [.delivery: .seconds(21)])
        #expect(board.late == [.delivery, .timers])
        board.answered(try #require(checks[0].asked.first { $0.part == .timers }), at: .seconds(21))
        #expect(board.check(at: .seconds(22)).recovered == [.timers])
        #expect(board.late == [.delivery])
        #expect(!board.isComplete)
    }

    @Test func `nobody is late because the whole process stood still`() {
        var board = LivenessMachine(limits: Self.limits)
        _ = run(&board, from: 0, to: 2, answering: [])
        let checks = run(&board, from: 1000, to: 1010, answering: [])
        #expect(checks.allSatisfy { $0.fallen.isEmpty })
        #expect(board.check(at: .seconds(1011)).fallen == [.timers: .seconds(11)])
    }

    @Test func `a part that comes and goes is late like any other, and recovers when it is gone`() {
        var board = LivenessMachine(limits: [.timers: .seconds(10)])
        let band = LivenessPart.plugin("band")
        var check = board.check(at: .seconds(0), passing: [band: .seconds(3)])
        #expect(Set(check.asked.map(\.part)) == [.timers, band])
        for question in check.asked where question.part == .timers { board.answered(question, at: .zero) }
        #expect(board.isComplete)
        #expect(board.check(at: .seconds(3), passing: [band: .seconds(3)]).fallen.isEmpty)
        check = board.check(at: .seconds(4), passing: [band: .seconds(3)])
        #expect(check.fallen == [band: .seconds(4)])
        #expect(board.late == [band])
        #expect(board.check(at: .seconds(5)).recovered == [band])
        #expect(board.late.isEmpty)
        #expect(board.slow(since: .zero, at: .seconds(7)) == [.timers])
    }

    @Test func `the answer to an earlier question is none to the present one`() throws {
        var board = LivenessMachine(limits: [:])
        let radio = LivenessPart.plugin("radio")
        let first = try #require(board.check(at: .seconds(0), passing: [radio: .seconds(3)]).asked.first)
        _ = board.check(at: .seconds(1))
        let second = try #require(board.check(at: .seconds(2), passing: [radio: .seconds(3)]).asked.first)
        board.answered(first, at: .seconds(3))
        #expect(board.slow(since: .zero, at: .seconds(3)) == [radio])
        board.answered(second, at: .milliseconds(2100))
        #expect(board.slow(since: .zero, at: .seconds(3)) == [])
    }

    @Test func `a part is slow while its answer takes a second, and stays among those that were slow since a moment`()
        throws
    {
        var board = LivenessMachine(limits: Self.limits)
        let questions = board.check(at: .zero).asked
        #expect(board.slow(since: .zero, at: .milliseconds(999)) == [])
        #expect(board.slow(since: .zero, at: .seconds(1)) == [.delivery, .timers])
        board.answered(try #require(questions.first { $0.part == .timers }), at: .milliseconds(999))
        board.answered(try #require(questions.first { $0.part == .delivery }), at: .milliseconds(4500))
        #expect(board.slow(since: .milliseconds(4500), at: .seconds(60)) == [.delivery])
        #expect(board.slow(since: .milliseconds(4501), at: .seconds(60)) == [])
        // The end of the stop found this part between two of its long waits.
        let again = try #require(board.check(at: .seconds(60)).asked.first { $0.part == .delivery })
        board.answered(again, at: .milliseconds(60_010))
        #expect(board.slow(since: .seconds(4), at: .seconds(61)) == [.delivery, .timers])
    }

    @Test func `names the parts that have not answered for a time, and says when it does not ask itself`() throws {
        var board = LivenessMachine(limits: Self.limits)
        #expect(board.waiting(longerThan: .seconds(10), at: .zero) == [])
        let checks = run(&board, from: 0, to: 12, answering: [.timers])
        #expect(board.waiting(longerThan: .seconds(12), at: .seconds(12)) == [])
        #expect(board.waiting(longerThan: .seconds(10), at: .seconds(12)) == [.delivery])
        board.answered(try #require(checks[0].asked.first { $0.part == .delivery }), at: .seconds(12))
        #expect(board.waiting(longerThan: .seconds(10), at: .seconds(13)) == [])
        #expect(board.waiting(longerThan: .seconds(10), at: .seconds(23)) == nil)
    }

    @Test func `every part has a limit that a slow board keeps`() throws {
        for part in LivenessPart.permanent { #expect(LivenessProbe(part) {}.limit >= .seconds(15)) }
        #expect(LivenessProbe(.storeWriter) {}.limit == .seconds(45))
        #expect(LivenessProbe(.storeReader) {}.limit == .seconds(45))
        #expect(LivenessProbe(.configuration) {}.limit == .seconds(30))
        #expect(LivenessProbe(.plugin("tcp")) {}.limit == .seconds(15))
        #expect(LivenessProbe(.statistics) {}.limit == .seconds(15))
        #expect(LivenessProbe(.web) {}.limit == .seconds(15))
        // What waits for the store's writer is late after it.
        for part in [LivenessPart.commands, .refusedFacts, .upkeep] {
            #expect(LivenessProbe(part) {}.limit == .seconds(60))
        }
        let band = try #require(DeviceID("band"))
        #expect(LivenessProbe(.device(band)) {}.limit == .seconds(60))
    }
}
