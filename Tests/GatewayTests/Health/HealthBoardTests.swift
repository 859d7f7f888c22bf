import Gateway
import Testing
import Vitals

@Suite struct HealthBoardTests {
    private static let limits: [HealthPart: Duration] = [.timers: .seconds(10), .delivery: .seconds(20)]

    /// Checks once a second, and answers for the parts in `answering`.
    private func run(
        _ board: inout HealthBoard, from start: Int, to end: Int, answering: Set<HealthPart>
    ) -> [HealthBoard.Check] {
        (start...end).map { second in
            let check = board.check(at: .seconds(second))
            for part in check.asked where answering.contains(part) { board.answered(part) }
            return check
        }
    }

    @Test func `asks every part every two seconds, as long as it answers`() {
        var board = HealthBoard(limits: Self.limits)
        #expect(!board.isComplete)
        let checks = run(&board, from: 0, to: 100, answering: [.timers, .delivery])
        for (second, check) in checks.enumerated() {
            #expect(Set(check.asked) == (second % 2 == 0 ? [.timers, .delivery] : []))
            #expect(check.fallen.isEmpty)
        }
        #expect(board.isComplete)
    }

    @Test func `a part is late after its limit, is told once, and recovers with its answer`() {
        var board = HealthBoard(limits: Self.limits)
        let checks = run(&board, from: 0, to: 21, answering: [])
        #expect(checks[10].fallen.isEmpty)
        #expect(checks[11].fallen == [.timers: .seconds(11)])
        #expect(checks[12].fallen.isEmpty)
        #expect(checks[21].fallen == [.delivery: .seconds(21)])
        #expect(board.late == [.delivery, .timers])
        #expect(board.silent(for: .seconds(21), at: .seconds(21)) == [.delivery, .timers])
        #expect(board.silent(for: .seconds(22), at: .seconds(21)) == [])
        board.answered(.timers)
        #expect(board.check(at: .seconds(22)).recovered == [.timers])
        #expect(board.late == [.delivery])
        #expect(!board.isComplete)
    }

    @Test func `nobody is late because the whole process stood still`() {
        var board = HealthBoard(limits: Self.limits)
        _ = run(&board, from: 0, to: 2, answering: [])
        let checks = run(&board, from: 1000, to: 1010, answering: [])
        #expect(checks.allSatisfy { $0.fallen.isEmpty })
        #expect(board.check(at: .seconds(1011)).fallen == [.timers: .seconds(11)])
    }

    @Test func `every part has a limit that a slow board keeps`() {
        for part in HealthPart.allCases { #expect(HealthProbe(part) {}.limit >= .seconds(15)) }
        #expect(HealthProbe(.storeWriter) {}.limit == .seconds(45))
        #expect(HealthProbe(.configuration) {}.limit == .seconds(30))
    }
}
