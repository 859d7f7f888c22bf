import GatewayKit
import Testing
import Vitals

@testable import Simulator

@Suite struct MeasurementTests {
    @Test func `sends a value each second, ends, and keeps the last one`() throws {
        try Setup.play(SimulatorDriver(SimulatorOptions(seed: 3, liveInterval: nil))) { setup in
            let id = try await setup.session.startMeasurement(of: .bloodOxygen, duration: .seconds(20))
            try await setup.pass(.seconds(25))
            let samples = setup.measured(id)
            #expect(samples.map(\.start) == (1...20).map { Setup.noon + .seconds($0) })
            #expect(samples.allSatisfy { $0.isUserInitiated && $0.metric == .bloodOxygen })
            #expect(setup.ends(id) == [.measurementEnded(id, completed: true, error: nil)])
            let history = try await setup.history(.bloodOxygen, from: Setup.noon, to: Setup.noon + .minutes(1))
            #expect(history.filter(\.isUserInitiated) == samples.suffix(1))
            // The result is not sent again as a live sample.
            #expect(!setup.samples.contains { $0.isUserInitiated })
        }
    }

    @Test(arguments: [(Model.band, 30, nil), (.cuff, 40, 1)] as [(Model, Int, Int?)])
    func `gives a blood pressure at its end`(model: Model, seconds: Int, user: Int?) throws {
        try Setup.play(SimulatorDriver(SimulatorOptions(model: model, seed: 3, liveInterval: nil))) { setup in
            let id = try await setup.session.startMeasurement(of: .bloodPressure, duration: .seconds(90))
            try await setup.pass(.seconds(seconds) - .milliseconds(500))
            #expect(setup.measured(id).isEmpty)
            try await setup.pass(.seconds(1))
            let sample = try #require(setup.measured(id).first)
            #expect(setup.measured(id).count == 1)
            #expect(sample.start == Setup.noon)
            #expect(sample.end == Setup.noon + .seconds(seconds))
            #expect(sample.user == user)
            #expect(setup.ends(id) == [.measurementEnded(id, completed: true, error: nil)])
            let history = try await setup.history(
                .bloodPressure, from: Setup.noon, to: Setup.noon + .minutes(1), limit: 1)
            #expect(history.last == sample)
        }
    }

    @Test func `does one at a time`() throws {
        try Setup.play(SimulatorDriver(SimulatorOptions(seed: 3))) { setup in
            let first = try await setup.session.startMeasurement(of: .heartRate, duration: .seconds(60))
            let error = await #expect(throws: DeviceError.self) {
                try await setup.session.startMeasurement(of: .stress, duration: .seconds(10))
            }
            #expect(error?.code == .busy)
            try await setup.pass(.seconds(61))
            let second = try await setup.session.startMeasurement(of: .stress, duration: .seconds(10))
            #expect(first != second)
            try await setup.pass(.seconds(11))
            #expect(setup.measured(second).count == 10)
        }
    }

    @Test func `stops, and has no result then`() throws {
        try Setup.play(SimulatorDriver(SimulatorOptions(seed: 3, liveInterval: nil))) { setup in
            let id = try await setup.session.startMeasurement(of: .heartRate, duration: .seconds(60))
            try await setup.pass(.milliseconds(5_500))
            try await setup.session.stopMeasurement(id)
            // Another measurement can begin at once.
            let next = try await setup.session.startMeasurement(of: .temperature, duration: .seconds(3))
            try await setup.pass(.seconds(10))
            try await setup.session.stopMeasurement(id)
            try await setup.pass(.seconds(1))
            #expect(setup.measured(id).count == 5)
            #expect(setup.ends(id) == [.measurementEnded(id, completed: false, error: nil)])
            #expect(setup.measured(next).count == 3)
            #expect(setup.ends(next) == [.measurementEnded(next, completed: true, error: nil)])
            let history = try await setup.history(.heartRate, from: Setup.noon, to: Setup.noon + .minutes(1))
            #expect(!history.contains { $0.isUserInitiated })
        }
    }

    @Test func `ends when the device is taken off, and does not begin before it is on again`() throws {
        try Setup.play(SimulatorDriver(SimulatorOptions(seed: 3, liveInterval: nil))) { setup in
            var id = try await setup.session.startMeasurement(of: .heartRate, duration: .hours(1))
            while !setup.events.contains(.wear(isWorn: false)) {
                try await setup.pass(.minutes(10))
                if setup.ends(id).contains(.measurementEnded(id, completed: true, error: nil)) {
                    id = try await setup.session.startMeasurement(of: .heartRate, duration: .hours(1))
                }
            }
            #expect(setup.ends(id) == [.measurementEnded(id, completed: false, error: .notWorn)])
            await #expect(throws: DeviceError.notWorn) {
                try await setup.session.startMeasurement(of: .heartRate, duration: .seconds(10))
            }
        }
    }

    @Test func `a session that ends gives its measurement up`() throws {
        let driver = SimulatorDriver(SimulatorOptions(seed: 3))
        for _ in 0..<2 {
            try Setup.play(driver) { setup in
                _ = try await setup.session.startMeasurement(of: .heartRate, duration: .seconds(60))
                try await setup.pass(.seconds(3))
            }
        }
    }

    @Test(arguments: [
        (Model.band, Metric.steps, 10, DeviceError.Code.unsupported), (.cuff, .heartRate, 10, .unsupported),
        (.ring, .stress, 10, .unsupported), (.band, .heartRate, 0, .invalid), (.band, .heartRate, 3601, .invalid),
    ])
    func `refuses what it cannot`(model: Model, metric: Metric, seconds: Int, code: DeviceError.Code) throws {
        try Setup.play(SimulatorDriver(SimulatorOptions(model: model))) { setup in
            let error = await #expect(throws: DeviceError.self) {
                try await setup.session.startMeasurement(of: metric, duration: .seconds(seconds))
            }
            #expect(error?.code == code)
        }
    }

    @Test func `keeps so many results and forgets the oldest`() throws {
        let calendar = try #require(LocalCalendar(identifier: "UTC"))
        var device = DeviceState(SimulatorOptions(model: .oximeter), seed: 1, calendar: calendar)
        for place in 0...DeviceState.measuredCapacity {
            let moment = Setup.noon + .minutes(place)
            let running = try device.start(measuring: .heartRate, for: .seconds(1), at: moment)
            _ = device.proceed(with: running.id, after: .seconds(1))
        }
        #expect(device.measured.count == DeviceState.measuredCapacity)
        #expect(device.measured.first?.start == Setup.noon + .seconds(61))
    }
}

extension Setup {
    /// The samples of a measurement.
    func measured(_ id: MeasurementID) -> [Sample] {
        events.compactMap { if case .measurementSample(id, let sample) = $0 { sample } else { nil } }
    }

    /// The ends of a measurement.
    func ends(_ id: MeasurementID) -> [DeviceEvent] {
        events.filter { if case .measurementEnded(id, _, _) = $0 { true } else { false } }
    }
}
