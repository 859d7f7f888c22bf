import Engines
import GatewayKit
import Testing
import Vitals

/// The consequences of replacing a record by another one.
@Suite struct WithdrawalTests {
    private func context(_ source: SampleSource = .live) -> IngestContext {
        IngestContext(
            source: source, now: Fixture.noon, freshness: [.heartRate: .minutes(30)], settings: Fixture.limits,
            policy: AlertPolicy(count: [:]), isWorn: true, calendar: Fixture.utc)
    }

    private func withdrawn(_ sample: Sample) -> SampleOutcome {
        var stored = Fixture.stored(sample, revision: 2)
        stored.isWithdrawn = true
        return SampleOutcome(stored: stored, novelty: .withdrawn)
    }

    private func measurements(_ decision: Recording) -> [Fact.Measurement] {
        decision.facts.compactMap { if case .measurement(let measurement) = $0.content { measurement } else { nil } }
    }

    /// Whether a heart rate above the resting limit counts as one during exercise.
    private func isExercise(at minute: Int, _ projection: SampleProjection) -> Bool {
        let decision = projection.recording([Fixture.new(Fixture.heartRate(150, at: minute))], in: context())
        return !decision.facts.contains { $0.lane == .alert }
    }

    private let empty = SampleProjection(
        device: Fixture.device, today: RunningDay(day: Fixture.utc.day(of: Fixture.noon)))

    @Test(arguments: [SampleSource.live, .sync])
    func `shares the message of what takes its place, and the flag`(source: SampleSource) {
        let (old, new) = (Fixture.workout(at: -60, lasting: 20), Fixture.workout(at: -60, lasting: 30))
        let first = empty.recording([Fixture.new(old)], in: context(source)).projection
        let decision = first.recording(
            [withdrawn(old), withdrawn(Fixture.steps(9, at: -50)), Fixture.new(new)], in: context(source))
        let sport = measurements(decision).filter { $0.metric == .sport }
        #expect(sport.map { $0.samples.map(\.sample) } == [[old, new]])
        #expect(sport.map(\.isHistorical) == [false])
        // Nothing replaces the steps here: they are past in any case.
        #expect(measurements(decision).filter { $0.metric == .steps }.map(\.isHistorical) == [true])
        #expect(decision.facts.filter { $0.lane == .alert }.isEmpty)
    }

    @Test func `leaves the newest value to what takes its place`() {
        let (old, new) = (Fixture.workout(at: -60, lasting: 20), Fixture.workout(at: -70, lasting: 30))
        let first = empty.recording([Fixture.new(old)], in: context())
        let decision = first.projection.recording([withdrawn(old), Fixture.new(new)], in: context())
        #expect(decision.projection.latest[.sport]?.sample == new)
        #expect(decision.projection.highWater[.sport] == new.end)
        #expect(measurements(decision).map(\.isHistorical) == [false])
    }

    @Test func `is no exercise any more, and its day is counted anew`() {
        let (old, new) = (Fixture.workout(at: -60, lasting: 20), Fixture.workout(at: -30, lasting: 20))
        let first = empty.recording([Fixture.new(old)], in: context(.sync)).projection
        let decision = first.recording([withdrawn(old), Fixture.new(new)], in: context(.sync))
        #expect(isExercise(at: -20, decision.projection))
        #expect(!isExercise(at: -50, decision.projection))
        #expect(decision.projection.today.outdated == [.sport])
        var silent = withdrawn(old)
        silent.novelty = .known
        #expect(!isExercise(at: -50, empty.recording([silent], in: context()).projection))
    }

    @Test(arguments: [SampleOutcome.Novelty.withdrawn, .known])
    func `leaves the exercise to another record with the same times`(novelty: SampleOutcome.Novelty) {
        let automatic = Fixture.workout(at: -60, lasting: 20)
        var manual = automatic
        manual.isUserInitiated = true
        let first = empty.recording([Fixture.new(manual)], in: context(.sync)).projection
        var second = withdrawn(automatic)
        second.novelty = novelty
        #expect(second.stored.id != Fixture.new(manual).stored.id)
        #expect(isExercise(at: -50, first.recording([second], in: context(.sync)).projection))
    }
}
