import Conformance
import GatewayKit
import TestSupport
import Testing
import Vitals

/// Checks that the suite accepts a correct device, and finds each possible fault.
@Suite(.timeLimit(.minutes(1)))
struct DriverConformanceTests {
    @Test(arguments: UInt64(0)..<20)
    func `finds nothing wrong with a device that does everything right`(seed: UInt64) throws {
        #expect(try ConformanceSetup().check(seed: seed) == [])
    }

    @Test func `runs on the system's clock, too`() async {
        let violations = await ConformanceSetup().suite(clock: .system, expecting: .milliseconds(1)).check()
        #expect(violations == [])
    }

    @Test func `finds a description that makes no sense`() throws {
        var setup = ConformanceSetup()
        setup.description = DeviceDescription(
            identity: DeviceIdentity(manufacturer: "", model: "two\nlines"),
            capabilities: Capabilities(
                [
                    .stress: [.restAlert], .temperature: [.scheduleTime], .steps: [.monitor, .measure],
                    .battery: [.history], .heartRate: [.alert], .skinTemperature: [.monitor, .alert],
                ], maximumHistoryDays: 0),
            clock: DeviceClock(now: ConformanceSetup.start, utcOffset: 900))
        let violations = try setup.check()
        for text in [
            "stress has abilities that only heart rate has", "temperature has a schedule that can be set",
            "steps cannot be monitored", "steps cannot be measured", "battery has no history",
            "heart_rate has alert, but neither rest_alert", "skin_temperature has alert, but no limits",
            "max_history_days is 0", "the identity has the text \"\"",
            "the identity has the text \"two\\nlines\"", "the clock is 900 minutes from UTC",
            "heart_rate has records, but the capabilities do not name a history",
            "sleep has summaries, but the capabilities do not name the ability",
        ] {
            #expect(violations.contains { $0.contains(text) }, "\(text) is not among \(violations)")
        }
    }

    @Test func `finds an expectation that checks nothing`() throws {
        var setup = ConformanceSetup()
        setup.expectation.history = [:]
        setup.expectation.summaryDays = nil
        setup.sendsTooFewSafeSamples = true
        let violations = try setup.check()
        for text in [
            "the expectation says of no metric what is in it", "the expectation says of no day what they are",
            "the peer should send three safe samples",
        ] {
            #expect(violations.contains { $0.contains(text) }, "\(text) is not among \(violations)")
        }
    }

    @Test func `finds a clock that can be set although the device has none`() throws {
        var setup = ConformanceSetup()
        setup.description.clock = nil
        #expect(try setup.check() == ["clock: setting the clock succeeded; it should throw unsupported."])
        setup.expectation.hasSettableClock = true
        #expect(try setup.check() == [])
    }

    @Test func `is content with a driver that starts a second measurement after the first`() throws {
        var setup = ConformanceSetup()
        setup.expectation.secondMeasurement = .isQueued
        #expect(try setup.check { FaultySession(session: $0, fault: .queuesMeasurements) } == [])
        let violations = try setup.check()
        #expect(violations.contains { $0.contains("Another measurement is running") }, "\(violations)")
    }

    @Test func `asks for no more than a device can do`() throws {
        var setup = ConformanceSetup()
        setup.expectation.refusesNonsense = false
        setup.expectation.disconnectsGracefully = false
        #expect(try setup.check { FaultySession(session: $0, fault: .takesNonsense) } == [])
        #expect(try setup.check { FaultySession(session: $0, fault: .leavesWithoutDisconnect) } == [])
    }

    @Test(arguments: DriverFault.allCases)
    func `finds a fault`(fault: DriverFault) throws {
        let violations = try ConformanceSetup().check { FaultySession(session: $0, fault: fault) }
        #expect(
            violations.contains { $0.contains(fault.violation) }, "\(fault.violation) is not among \(violations)")
    }
}
