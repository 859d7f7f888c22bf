import Testing
import Vitals

@Suite struct CapabilitiesTests {
    private static let capabilities = Capabilities([
        .heartRate: [.measure, .monitor, .restAlert, .enhanced], .restingHeartRate: [.history], .steps: [],
    ])

    @Test(
        arguments: [
            (.measure, "measure"), (.monitor, "monitor"), (.scheduleTime, "schedule_time"),
            (.scheduleInterval, "schedule_interval"), (.alert, "alert"), (.history, "history"),
            (.summary, "summary"), (.restAlert, "rest_alert"), (.exerciseAlert, "exercise_alert"),
            (.enhanced, "enhanced"), (.exercise, "exercise"), (.warnings, "warnings"),
        ] as [(Abilities, String)])
    func `has a name of its own for each ability`(ability: Abilities, name: String) {
        #expect(Abilities.named.filter { $0.ability == ability }.map(\.name) == [name])
        #expect(Abilities.named.count { !$0.ability.isDisjoint(with: ability) } == 1)
        let isHeartRateOnly = ["rest_alert", "exercise_alert", "enhanced", "exercise", "warnings"].contains(name)
        #expect(Abilities.heartRateOnly.contains(ability) == isHeartRateOnly)
    }

    @Test func `says of a metric what the device can do, and nothing of one that it has not`() {
        #expect(Self.capabilities.supports(.measure, .heartRate))
        #expect(Self.capabilities.supports([.measure, .enhanced], .heartRate))
        #expect(!Self.capabilities.supports([.measure, .exerciseAlert], .heartRate))
        #expect(Self.capabilities.supports(.steps))
        #expect(!Self.capabilities.supports(.measure, .steps))
        #expect(!Self.capabilities.supports(.bloodPressure))
        #expect(!Self.capabilities.supports([], .bloodPressure))
        #expect(Capabilities().metrics(with: []) == [])
    }

    @Test func `lists the metrics with an ability in the order of all metrics`() {
        #expect(Self.capabilities.metrics(with: .history) == [.restingHeartRate])
        #expect(Self.capabilities.metrics(with: []) == [.heartRate, .restingHeartRate, .steps])
        #expect(Self.capabilities.metrics(with: .alert) == [])
    }
}
