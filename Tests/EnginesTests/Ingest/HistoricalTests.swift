import Engines
import GatewayKit
import Testing
import Vitals

/// Which samples count as historical.
@Suite struct HistoricalTests {
    @Test(arguments: [0, 60, 61, 36_000], [SampleSource.live, .sync, .measure])
    func `what ended more than an hour ago is history, also where its value is fresh without end`(
        ago: Int, source: SampleSource
    ) {
        let pressure = Sample(
            metric: .bloodPressure, start: Fixture.minute(-ago),
            reading: .bloodPressure(BloodPressure(systolic: 150, diastolic: 80)))
        let context = IngestContext(
            source: source, now: Fixture.noon, freshness: [:], settings: Fixture.limits,
            policy: AlertPolicy(count: [:]), isWorn: true, calendar: Fixture.utc)
        let projection = SampleProjection(
            device: Fixture.device, today: RunningDay(day: Fixture.utc.day(of: Fixture.noon)))
        let decision = projection.recording([Fixture.new(pressure)], in: context)
        let isPast = ago > 60
        for case (let lane, .measurement(let measurement)) in decision.facts {
            #expect(measurement.isHistorical == isPast)
            #expect(lane == (isPast || source == .sync ? .history : .live))
        }
        // It is still the newest blood pressure, and raises its alert.
        #expect(decision.projection.latest[.bloodPressure]?.sample == pressure)
        #expect(decision.levels.map(\.isActive) == [true])
        #expect(decision.facts.count == 2)
    }
}
