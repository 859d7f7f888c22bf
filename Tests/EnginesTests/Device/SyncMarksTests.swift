import Engines
import Testing
import Vitals

@Suite struct SyncMarksTests {
    private static let week = Capabilities([.heartRate: [.history]], maximumHistoryDays: 7)

    @Test func `a synchronisation is due an interval after the one before`() {
        var marks = SyncMarks()
        #expect(marks.isDue(at: .minutes(100), every: .minutes(15)) == false)
        marks.nextAt = .minutes(15)
        #expect(marks.isDue(at: .minutes(14), every: .minutes(15)) == false)
        #expect(marks.isDue(at: .minutes(16), every: .minutes(15)) == true)
        #expect(marks.nextAt == .minutes(31))
    }

    @Test(arguments: [(8, true), (7, false), (1, false)])
    func `an absence longer than the device's history loses what is older`(days: Int, isLoss: Bool) throws {
        var marks = SyncMarks()
        let seen = Fixture.noon - .days(days)
        marks.recordAbsence(since: seen, lastSuccessAt: seen, Self.week, at: Fixture.noon)
        let loss = marks.loss(of: Self.week, at: Fixture.noon)
        #expect((loss != nil) == isLoss)
        guard let loss else { return }
        #expect(loss.from == seen)
        #expect(loss.to == Fixture.noon - .days(7))
        #expect(loss.reason == .device)
    }

    @Test
    func `nothing is lost before the first synchronisation, or where the device does not say how long it keeps what`() {
        var marks = SyncMarks()
        let seen = Fixture.noon - .days(100)
        marks.recordAbsence(since: seen, lastSuccessAt: nil, Self.week, at: Fixture.noon)
        #expect(marks.loss(of: Self.week, at: Fixture.noon) == nil)
        marks.recordAbsence(since: seen, lastSuccessAt: seen, Capabilities(), at: Fixture.noon)
        #expect(marks.loss(of: Self.week, at: Fixture.noon) == nil)
    }

    @Test func `of several absences in a row the first one counts, until it is reported`() {
        var marks = SyncMarks()
        let first = Fixture.noon - .days(30)
        marks.recordAbsence(since: first, lastSuccessAt: first, Self.week, at: Fixture.noon)
        marks.recordAbsence(
            since: Fixture.noon - .days(9), lastSuccessAt: Fixture.noon - .days(9), Self.week, at: Fixture.noon)
        #expect(marks.loss(of: Self.week, at: Fixture.noon)?.from == first)
        marks.lossFrom = nil
        #expect(marks.loss(of: Self.week, at: Fixture.noon) == nil)
    }
}
