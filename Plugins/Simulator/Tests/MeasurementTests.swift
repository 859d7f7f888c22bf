import GatewayKit
import Testing
import Vitals

@testable import Simulator

@Suite struct MeasurementTests {
    @Test func `sends a value each second, ends, and keeps the last one`() throws {
        try Stage.play(SimulatorDriver(SimulatorOptions(seed: 3, liveInterval: nil))) { stage in
            let id = try await stage.session.startMeasurement(of: .bloodOxygen, duration: .seconds(20))
            try await stage.pass(.seconds(25))
            let samples = stage.measured(id)
            #expect(samples.map(\.start) == (1...20).map { Stage.noon + .seconds($0) })
            #expect(samples.allSatisfy { $0.isUserInitiated && $0.metric == .bloodOxygen })
            #expect(stage.ends(id) == [.measurementEnded(id, completed: true, error: nil)])
            let history = try await stage.history(.bloodOxygen, from: Stage.noon, to: Stage.noon + .minutes(1))
            #expect(history.filter(\.isUserInitiated) == samples.suffix(1))
            // The result is not sent again as a live sample.
            #expect(!stage.samples.contains { $0.isUserInitiated })
        }
    }

    @Test(arguments: [(Model.band, 30, nil), (.cuff, 40, 1)] as [(Model, Int, Int?)])
    func `gives a blood pressure at its end`(model: Model, seconds: Int, user: Int?) throws {
        try Stage.play(SimulatorDriver(SimulatorOptions(model: model, seed: 3, liveInterval: nil))) { stage in
            let id = try await stage.session.startMeasurement(of: .bloodPressure, duration: .seconds(90))
            try await stage.pass(.seconds(seconds) - .milliseconds(500))
            #expect(stage.measured(id).isEmpty)
            try await stage.pass(.seconds(1))
            let sample = try #require(stage.measured(id).first)
            #expect(stage.measured(id).count == 1)
            #expect(sample.start == Stage.noon)
            #expect(sample.end == Stage.noon + .seconds(seconds))
            #expect(sample.user == user)
            #expect(stage.ends(id) == [.measurementEnded(id, completed: true, error: nil)])
            let history = try await stage.history(
                .bloodPressure, from: Stage.noon, to: Stage.noon + .minutes(1), limit: 1)
            #expect(history.last == sample)
        }
    }

    @Test func `does one at a time`() throws {
        try Stage.play(SimulatorDriver(SimulatorOptions(seed: 3))) { stage in
            let first = try await stage.session.startMeasurement(of: .heartRate, duration: .seconds(60))
            let error = await #expect(throws: DeviceError.self) {
                try await stage.session.startMeasurement(of: .stress, duration: .seconds(10))
            }
            #expect(error?.code == .busy)
            try await stage.pass(.seconds(61))
            let second = try await stage.session.startMeasurement(of: .stress, duration: .seconds(10))
            #expect(first != second)
            try await stage.pass(.seconds(11))
            #expect(stage.measured(second).count == 10)
        }
    }

    @Test func `stops, and has no result then`() throws {
        try Stage.play(SimulatorDriver(SimulatorOptions(seed: 3, liveInterval: nil))) { stage in
            let id = try await stage.session.startMeasurement(of: .heartRate, duration: .seconds(60))
            try await stage.pass(.milliseconds(5_500))
            try await stage.session.stopMeasurement(id)
            // Another measurement can begin at once.
            let next = try await stage.session.startMeasurement(of: .temperature, duration: .seconds(3))
            try await stage.pass(.seconds(10))
            try await stage.session.stopMeasurement(id)
            try await stage.pass(.seconds(1))
            #expect(stage.measured(id).count == 5)
            #expect(stage.ends(id) == [.measurementEnded(id, completed: false, error: nil)])
            #expect(stage.measured(next).count == 3)
            #expect(stage.ends(next) == [.measurementEnded(next, completed: true, error: nil)])
            let history = try await stage.history(.heartRate, from: Stage.noon, to: Stage.noon + .minutes(1))
            #expect(!history.contains { $0.isUserInitiated })
        }
    }

    @Test func `ends when the device is taken off, and does not begin before it is on again`() throws {
        try Stage.play(SimulatorDriver(SimulatorOptions(seed: 3, liveInterval: nil))) { stage in
            var id = try await stage.session.startMeasurement(of: .heartRate, duration: .hours(1))
            while !stage.events.contains(.wear(isWorn: false)) {
                try await stage.pass(.minutes(10))
                if stage.ends(id).contains(.measurementEnded(id, completed: true, error: nil)) {
                    id = try await stage.session.startMeasurement(of: .heartRate, duration: .hours(1))
                }
            }
            #expect(stage.ends(id) == [.measurementEnded(id, completed: false, error: .notWorn)])
            await #expect(throws: DeviceError.notWorn) {
                try await stage.session.startMeasurement(of: .heartRate, duration: .seconds(10))
            }
        }
    }

    @Test func `a session that ends gives its measurement up`() throws {
        let driver = SimulatorDriver(SimulatorOptions(seed: 3))
        for _ in 0..<2 {
            try Stage.play(driver) { stage in
                _ = try await stage.session.startMeasurement(of: .heartRate, duration: .seconds(60))
                try await stage.pass(.seconds(3))
            }
        }
    }

    @Test(arguments: [
        (Model.band, Metric.steps, 10, DeviceError.Code.unsupported), (.cuff, .heartRate, 10, .unsupported),
        (.ring, .stress, 10, .unsupported), (.band, .heartRate, 0, .invalid), (.band, .heartRate, 3601, .invalid),
    ])
    func `refuses what it cannot`(model: Model, metric: Metric, seconds: Int, code: DeviceError.Code) throws {
        try Stage.play(SimulatorDriver(SimulatorOptions(model: model))) { stage in
            let error = await #expect(throws: DeviceError.self) {
                try await stage.session.startMeasurement(of: metric, duration: .seconds(seconds))
            }
            #expect(error?.code == code)
        }
    }

    @Test func `keeps so many results and forgets the oldest`() throws {
        let calendar = try #require(LocalCalendar(identifier: "UTC"))
        var device = DeviceState(SimulatorOptions(model: .oximeter), seed: 1, calendar: calendar)
        for place in 0...DeviceState.measuredCapacity {
            let moment = Stage.noon + .minutes(place)
            let running = try device.start(measuring: .heartRate, for: .seconds(1), at: moment)
            _ = device.proceed(with: running.id, after: .seconds(1))
        }
        #expect(device.measured.count == DeviceState.measuredCapacity)
        #expect(device.measured.first?.start == Stage.noon + .seconds(61))
    }
}

extension Stage {
    /// The samples of a measurement.
    func measured(_ id: MeasurementID) -> [Sample] {
        events.compactMap { if case .measurementSample(id, let sample) = $0 { sample } else { nil } }
    }

    /// The ends of a measurement.
    func ends(_ id: MeasurementID) -> [DeviceEvent] {
        events.filter { if case .measurementEnded(id, _, _) = $0 { true } else { false } }
    }
}
