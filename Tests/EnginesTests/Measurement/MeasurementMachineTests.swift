import Engines
import GatewayKit
import Testing
import Vitals

@Suite struct MeasurementMachineTests {
    private typealias Action = MeasurementMachine.Action
    private let now = Fixture.noon
    private let id = MeasurementID("m1")

    /// A machine with a running measurement.
    private func running(_ origin: MeasurementMachine.Origin = .command("c")) -> MeasurementMachine {
        var machine = MeasurementMachine()
        _ = machine.handle(.start(.heartRate, duration: .seconds(60), origin: origin), at: now)
        _ = machine.handle(.started(id, attempt: 1), at: now)
        return machine
    }

    private func answers(_ actions: [Action]) -> [Answer] {
        actions.compactMap { if case .answer(_, let answer) = $0 { answer } else { nil } }
    }

    private func phases(_ actions: [Action]) -> [MeasureState.Phase] {
        actions.compactMap { if case .publish(let state) = $0 { state.phase } else { nil } }
    }

    @Test func `starts, shows its samples, ends and answers with the last one`() {
        var machine = MeasurementMachine()
        let start = machine.handle(.start(.heartRate, duration: .seconds(60), origin: .command("c")), at: now)
        #expect(start.first == .start(.heartRate, .seconds(60), attempt: 1))
        #expect(phases(start) == [.starting])
        let started = machine.handle(.started(id, attempt: 1), at: now)
        #expect(phases(started) == [.measuring])
        #expect(started.contains(.await(.seconds(90), attempt: 1)))
        let stored = Fixture.stored(Fixture.heartRate(70, at: 0))
        #expect(phases(machine.handle(.sample(id, stored), at: now)) == [.measuring])
        #expect(machine.handle(.sample(MeasurementID("other"), stored), at: now) == [])
        #expect(machine.handle(.ended(MeasurementID("other"), completed: true, error: nil), at: now) == [])
        let end = machine.handle(.ended(id, completed: true, error: nil), at: now)
        #expect(phases(end) == [.ended])
        #expect(answers(end) == [Answer(.done, data: .measurement(stored))])
        #expect(machine.metric(of: id) == nil)
        #expect(machine.handle(.ended(id, completed: true, error: nil), at: now) == [])
    }

    @Test func `a second command is refused, and the first goes on`() {
        var machine = running()
        #expect(machine.isBusy)
        let actions = machine.handle(.start(.stress, duration: .seconds(10), origin: .command("d")), at: now)
        #expect(answers(actions).map(\.code) == [.busy])
        #expect(machine.metric(of: id) == .heartRate)
    }

    @Test func `a command's measurement wins over the gateway's own`() {
        var machine = running(.schedule)
        #expect(!machine.isBusy)
        #expect(machine.origin(of: id) == .schedule)
        let actions = machine.handle(.start(.stress, duration: .seconds(10), origin: .command("d")), at: now)
        #expect(actions == [.stop(id)])
        #expect(machine.isBusy)
        let end = machine.handle(.ended(id, completed: false, error: nil), at: now)
        #expect(phases(end) == [.ended, .starting])
        #expect(end.contains(.start(.stress, .seconds(10), attempt: 2)))
        #expect(machine.metric(of: id) == .stress)
    }

    @Test func `the gateway's own measurements wait for their turn, each metric once`() {
        var machine = running()
        for metric in [Metric.stress, .bloodOxygen, .stress] {
            #expect(machine.handle(.start(metric, duration: .seconds(60), origin: .schedule), at: now) == [])
        }
        var order: [Metric] = []
        for attempt in 1...3 {
            let id = MeasurementID("m\(attempt)")
            _ = machine.handle(.started(id, attempt: attempt), at: now)
            _ = machine.handle(.ended(id, completed: true, error: nil), at: now)
            if let metric = machine.metric(of: id) { order.append(metric) }
        }
        #expect(order == [.stress, .bloodOxygen])
        #expect(machine.metric(of: id) == nil)
    }

    @Test func `a blood pressure gets the time of a cuff, however short it was asked for`() {
        for (metric, seconds, wait) in [(Metric.heartRate, 5, 35), (.bloodPressure, 5, 90), (.bloodPressure, 120, 150)]
        {
            var machine = MeasurementMachine()
            _ = machine.handle(.start(metric, duration: .seconds(seconds), origin: .command("c")), at: now)
            let actions = machine.handle(.started(id, attempt: 1), at: now)
            #expect(actions.contains(.await(.seconds(wait), attempt: 1)))
        }
    }

    @Test func `an end that comes before the answer to the start counts`() {
        var machine = MeasurementMachine()
        _ = machine.handle(.start(.heartRate, duration: .seconds(60), origin: .command("c")), at: now)
        let stored = Fixture.stored(Fixture.heartRate(70, at: 0))
        #expect(machine.handle(.sample(id, stored), at: now) == [])
        #expect(machine.handle(.ended(id, completed: true, error: nil), at: now) == [])
        let actions = machine.handle(.started(id, attempt: 1), at: now)
        #expect(answers(actions) == [Answer(.done, data: .measurement(stored))])
    }

    @Test func `what an earlier measurement still sends is not taken for this one's`() {
        var machine = MeasurementMachine()
        _ = machine.handle(.start(.heartRate, duration: .seconds(60), origin: .command("c")), at: now)
        _ = machine.handle(.ended(MeasurementID("old"), completed: true, error: nil), at: now)
        let actions = machine.handle(.started(id, attempt: 1), at: now)
        #expect(answers(actions).isEmpty)
        #expect(machine.metric(of: id) == .heartRate)
    }

    @Test func `late words of an overdue measurement do not swallow what the next one says early`() {
        var machine = running(.schedule)
        _ = machine.handle(.start(.stress, duration: .seconds(10), origin: .command("d")), at: now)
        let overdue = machine.handle(.overdue(attempt: 1), at: now)
        #expect(overdue.first == .stop(id))
        _ = machine.handle(.ended(id, completed: false, error: nil), at: now)
        let next = MeasurementID("m2")
        let stored = Fixture.stored(Fixture.sample(.stress, 30, at: 0))
        _ = machine.handle(.sample(next, stored), at: now)
        _ = machine.handle(.ended(next, completed: true, error: nil), at: now)
        let actions = machine.handle(.started(next, attempt: 2), at: now)
        #expect(answers(actions) == [Answer(.done, data: .measurement(stored))])
        #expect(machine.metric(of: id) == nil)
    }

    @Test func `what else a device measures on the way is not the answer`() {
        var machine = MeasurementMachine()
        _ = machine.handle(.start(.bloodPressure, duration: .seconds(60), origin: .command("c")), at: now)
        _ = machine.handle(.started(id, attempt: 1), at: now)
        let pressure = Fixture.stored(
            Sample(
                metric: .bloodPressure, start: now,
                reading: .bloodPressure(BloodPressure(systolic: 120, diastolic: 80))))
        #expect(phases(machine.handle(.sample(id, pressure), at: now)) == [.measuring])
        #expect(machine.handle(.sample(id, Fixture.stored(Fixture.heartRate(66, at: 0))), at: now) == [])
        let end = machine.handle(.ended(id, completed: true, error: nil), at: now)
        #expect(answers(end) == [Answer(.done, data: .measurement(pressure))])
    }

    @Test func `a late answer of an earlier attempt changes nothing`() {
        var machine = MeasurementMachine()
        _ = machine.handle(.start(.heartRate, duration: .seconds(60), origin: .command("c")), at: now)
        #expect(answers(machine.handle(.disconnected, at: now)).map(\.code) == [.offline])
        _ = machine.handle(.start(.stress, duration: .seconds(60), origin: .command("d")), at: now)
        #expect(machine.handle(.refused(DeviceError(.disconnected, "gone"), attempt: 1), at: now) == [])
        #expect(machine.handle(.started(id, attempt: 1), at: now) == [])
        #expect(machine.handle(.overdue(attempt: 1), at: now) == [])
        #expect(machine.metric(of: id) == .stress)
    }

    @Test(arguments: [
        (DeviceError.Code.busy, AnswerCode.busy), (.notWorn, .notWorn), (.lowBattery, .lowBattery),
        (.failure, .deviceError), (.unsupported, .unsupported), (.invalid, .invalid), (.timeout, .timeout),
        (.disconnected, .offline),
    ]) func `a refusal is the answer`(code: DeviceError.Code, expected: AnswerCode) {
        var machine = MeasurementMachine()
        _ = machine.handle(.start(.heartRate, duration: .seconds(60), origin: .command("c")), at: now)
        let actions = machine.handle(.refused(DeviceError(code, "no"), attempt: 1), at: now)
        #expect(phases(actions) == [.failed])
        #expect(answers(actions).map(\.code) == [expected])
        #expect(answers(actions).map(\.status) == [.failed])
    }

    /// The statuses of the answers, by key.
    private func statuses(_ actions: [Action]) -> [String: Answer.Status] {
        actions.reduce(into: [:]) { if case .answer(let key, let answer) = $1 { $0[key] = answer.status } }
    }

    @Test func `a stop is answered when the device has stopped, whenever it comes`() {
        var machine = running()
        #expect(statuses(machine.handle(.stop(.stress, key: "o"), at: now)) == ["o": .done])
        #expect(machine.handle(.stop(nil, key: "s"), at: now) == [.stop(id)])
        #expect(machine.handle(.stop(.heartRate, key: "t"), at: now) == [])
        let end = machine.handle(.ended(id, completed: false, error: nil), at: now)
        #expect(statuses(end) == ["c": .done, "s": .done, "t": .done])
        var starting = MeasurementMachine()
        _ = starting.handle(.start(.heartRate, duration: .seconds(60), origin: .command("c")), at: now)
        #expect(starting.handle(.stop(.heartRate, key: "s"), at: now) == [])
        #expect(starting.handle(.started(id, attempt: 1), at: now).contains(.stop(id)))
        var idle = MeasurementMachine()
        #expect(statuses(idle.handle(.stop(nil, key: "s"), at: now)) == ["s": .done])
    }

    @Test func `a device that confirms a stop and says no end has stopped after a moment`() {
        var machine = running()
        _ = machine.handle(.stop(nil, key: "s"), at: now)
        #expect(
            machine.handle(.stopped(id), at: now) == [.await(MeasurementMachine.stopGrace, attempt: 1)])
        let end = machine.handle(.overdue(attempt: 1), at: now)
        #expect(phases(end) == [.ended])
        #expect(statuses(end) == ["c": .done, "s": .done])
    }

    @Test(arguments: [true, false])
    func `one that is stopped without any good reading has failed, and the stop has not`(
        isEndReported: Bool
    ) {
        var machine = running()
        _ = machine.handle(.readingFailed(id, DeviceError(.timeout, "No pulse.")), at: now)
        _ = machine.handle(.stop(nil, key: "s"), at: now)
        _ = machine.handle(.stopped(id), at: now)
        let end = machine.handle(
            isEndReported ? .ended(id, completed: false, error: nil) : .overdue(attempt: 1), at: now)
        #expect(statuses(end) == ["c": .failed, "s": .done])
        #expect(answers(end).first?.message == "No pulse." && phases(end) == [.failed])
    }

    @Test func `a device that refuses to stop goes on, and the stop has failed`() {
        var machine = running()
        _ = machine.handle(.stop(nil, key: "s"), at: now)
        let refused = machine.handle(.stopRefused(id, DeviceError(.busy, "Not now.")), at: now)
        #expect(answers(refused).map(\.code) == [.busy])
        #expect(statuses(refused) == ["s": .failed])
        #expect(machine.metric(of: id) == .heartRate)
        // The stop can be retried.
        #expect(machine.handle(.stop(nil, key: "t"), at: now) == [.stop(id)])
    }

    @Test func `where nobody knows whether it stopped, the stop has failed`() {
        var lost = running()
        _ = lost.handle(.stop(nil, key: "s"), at: now)
        #expect(statuses(lost.handle(.disconnected, at: now)) == ["c": .failed, "s": .failed])
        var silent = running()
        _ = silent.handle(.stop(nil, key: "s"), at: now)
        #expect(statuses(silent.handle(.overdue(attempt: 1), at: now)) == ["c": .failed, "s": .failed])
    }

    @Test func `stopping also ends a measurement that waits for the gateway's own to end`() {
        var machine = running(.schedule)
        _ = machine.handle(.start(.stress, duration: .seconds(10), origin: .command("d")), at: now)
        let actions = machine.handle(.stop(.stress, key: "s"), at: now)
        #expect(answers(actions) == [Answer(.done, data: .measurement(nil)), Answer(.done)])
        _ = machine.handle(.ended(id, completed: false, error: nil), at: now)
        #expect(machine.metric(of: id) == nil)
    }

    @Test func `a reading that fails is shown while the measurement goes on, until one succeeds`() {
        var machine = running()
        func shown(_ event: MeasurementMachine.Event) -> MeasureState? {
            machine.handle(event, at: now).compactMap { if case .publish(let state) = $0 { state } else { nil } }.first
        }
        let failed = shown(.readingFailed(id, DeviceError(.notWorn, "Put it on.")))
        #expect(failed?.phase == .measuring && failed?.error == "Put it on.")
        #expect(shown(.readingRefused(id))?.refused == 1)
        #expect(shown(.readingFailed(MeasurementID("other"), DeviceError(.failure, "x"))) == nil)
        let good = shown(.sample(id, Fixture.stored(Fixture.heartRate(70, at: 0))))
        #expect(good?.error == nil && good?.refused == 1)
        #expect(answers(machine.handle(.ended(id, completed: true, error: nil), at: now)).map(\.status) == [.done])
    }

    @Test(arguments: [true, false]) func `a measurement without any good reading has failed with the reason`(
        isEarly: Bool
    ) {
        func end(_ events: MeasurementMachine.Event...) -> Answer? {
            var machine = MeasurementMachine()
            _ = machine.handle(.start(.heartRate, duration: .seconds(60), origin: .command("c")), at: now)
            if !isEarly { _ = machine.handle(.started(id, attempt: 1), at: now) }
            for event in events { _ = machine.handle(event, at: now) }
            if isEarly { _ = machine.handle(.started(id, attempt: 1), at: now) }
            return answers(machine.handle(.ended(id, completed: true, error: nil), at: now)).first
        }
        #expect(end()?.status == .done)
        let off = end(.readingFailed(id, DeviceError(.notWorn, "Put it on.")))
        #expect(off?.code == .notWorn && off?.message == "Put it on.")
        let refused = end(.readingRefused(id), .readingRefused(id))
        #expect(refused?.code == .deviceError && refused?.message?.contains("2 readings") == true)
    }

    @Test func `one that is interrupted has failed`() {
        var machine = running()
        let actions = machine.handle(.ended(id, completed: false, error: DeviceError(.notWorn, "off")), at: now)
        #expect(answers(actions).map(\.message) == ["off"])
        var other = running()
        #expect(answers(other.handle(.ended(id, completed: false, error: nil), at: now)).map(\.status) == [.failed])
    }

    @Test func `one that does not end is stopped and has failed, and what waits begins`() {
        var machine = running(.schedule)
        _ = machine.handle(.start(.stress, duration: .seconds(10), origin: .command("d")), at: now)
        let actions = machine.handle(.overdue(attempt: 1), at: now)
        #expect(actions.first == .stop(id))
        #expect(phases(actions) == [.failed, .starting])
        #expect(machine.metric(of: id) == .stress)
        var starting = MeasurementMachine()
        _ = starting.handle(.start(.heartRate, duration: .seconds(60), origin: .command("c")), at: now)
        #expect(starting.handle(.overdue(attempt: 1), at: now) == [])
    }

    @Test func `a lost device answers everybody, and nothing is left`() {
        var machine = running(.schedule)
        _ = machine.handle(.start(.stress, duration: .seconds(10), origin: .command("d")), at: now)
        _ = machine.handle(.start(.bloodOxygen, duration: .seconds(10), origin: .schedule), at: now)
        let actions = machine.handle(.disconnected, at: now)
        #expect(answers(actions).map(\.code) == [.offline])
        #expect(machine.metric(of: id) == nil)
        #expect(machine.handle(.disconnected, at: now) == [])
    }
}
