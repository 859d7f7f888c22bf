import Concurrency
import GatewayKit
import Vitals

/// Measures on demand, one metric at a time. The ring sends values until a request stops it.
actor RingMeasurement {
    /// The sensor must find the pulse before the ring answers.
    static let startTimeout: Duration = .seconds(30)
    /// After this silence a ring that has measured is asked to continue: some stop after ten values.
    static let silence: Duration = .seconds(10)
    /// How long the answer to a stop is waited for. A ring that does not answer stops all the same.
    static let stopTimeout: Duration = .seconds(3)

    /// How a measurement ends: completed, stopped, or with an error.
    private enum End: Sendable, Hashable {
        case stopped
        case failed(DeviceError)
    }

    private struct Running: Sendable {
        let id: MeasurementID
        let metric: Metric
        let kind: UInt8
        let duration: Duration
        let accepted = Promise<Result<Void, DeviceError>>()
        let ended = Promise<End>()
        let over = Promise<Void>()
        var values = 0
        var times = LiveTimes()
        var failure: DeviceError?
    }

    /// Kinds of measurements (source: tahnok/colmi_r02_client, `real_time.py`).
    static let kinds: [Metric: UInt8] = [.heartRate: 1, .bloodOxygen: 3]

    private let queue: RingRequestQueue
    private let inbox: EventInbox
    private let clock: GatewayClock
    private let work = Signal()
    private var running: Running?
    private var count = 0

    init(_ queue: RingRequestQueue, _ inbox: EventInbox, clock: GatewayClock) {
        self.queue = queue
        self.inbox = inbox
        self.clock = clock
    }

    /// Starts a measurement, and returns when the ring has accepted it.
    func start(_ metric: Metric, for duration: Duration) async throws(DeviceError) -> MeasurementID {
        guard let kind = Self.kinds[metric] else { throw .unsupported("measuring \(metric.rawValue)") }
        guard running == nil else { throw DeviceError(.busy, "The ring is measuring already.") }
        count += 1
        let new = Running(id: MeasurementID("\(count)"), metric: metric, kind: kind, duration: duration)
        running = new
        work.wake()
        do { try (try await new.accepted.wait()).get() } catch {
            if let error = error as? DeviceError { throw error }
            new.ended.fulfil(.stopped)
            throw DeviceError(.disconnected, "The gateway no longer waits for the ring.")
        }
        return new.id
    }

    /// Stops a measurement; one that has ended is left alone.
    func stop(_ id: MeasurementID) async {
        guard let running, running.id == id else { return }
        running.ended.fulfil(.stopped)
        try? await running.over.wait()
    }

    /// Takes a value of the running measurement.
    func receive(_ packet: RingPacket) async {
        guard let running, packet.command == RingRequest.measure, packet.data[0] == running.kind else { return }
        switch packet.data[1] {
        case 0:
            let value = packet.data[2]
            guard value > 0 else { return }
            let now = clock.now
            self.running?.values += 1
            self.running?.failure = nil
            let sample = Sample(
                metric: running.metric, start: self.running?.times.time(at: now) ?? now, isUserInitiated: true,
                reading: .value(Double(value)))
            await inbox.send([.measurementSample(running.id, sample)])
        case 1: running.ended.fulfil(.failed(DeviceError(.notWorn, "The ring is not worn, or too loose.")))
        case 2:
            let error = DeviceError(.failure, "The ring found no value yet; keep the hand still.")
            self.running?.failure = error
            await inbox.send([.readingFailed(running.id, error)])
        case let code:
            running.ended.fulfil(.failed(DeviceError(.failure, "The ring cannot measure (code \(code)).")))
        }
    }

    /// Fails the running measurement: the link is over.
    func close(_ error: DeviceError) { running?.ended.fulfil(.failed(error)) }

    /// Measures until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            guard let current = running else {
                await work.wait()
                continue
            }
            let refusal = await begin(current)
            let event = refusal == nil ? await complete(current) : nil
            // First, so that the receiver of the end may start the next one at once.
            running = nil
            if let refusal { current.accepted.fulfil(.failure(refusal)) }
            if let event { await inbox.send([event]) }
            current.over.fulfil(())
        }
    }

    /// Starts the ring's sensor. Returns why that was refused.
    private func begin(_ current: Running) async -> DeviceError? {
        do {
            let reply = PacketReply(RingRequest.measure, beginning: [current.kind])
            _ = try await queue.ask(
                RingRequest.measure(current.kind), for: reply, timeout: Self.startTimeout, attempts: 1)
        } catch { return error }
        // The first answer may already say that nothing can be measured.
        guard case .failed(let error)? = current.ended.value else { return nil }
        await stopRing(current.kind)
        return error
    }

    private func complete(_ current: Running) async -> DeviceEvent {
        current.accepted.fulfil(.success(()))
        let end = await wait(current)
        await stopRing(current.kind)
        return event(end, current.id)
    }

    /// Waits for the end; `nil` when the time is over.
    private func wait(_ current: Running) async -> End? {
        let due = clock.uptime + current.duration
        while clock.uptime < due, !Task.isCancelled {
            let before = running?.values ?? 0
            let end = await clock.withTimeout(min(due - clock.uptime, Self.silence)) {
                try? await current.ended.wait()
            }
            if let end { return end }
            let values = running?.values ?? 0
            guard clock.uptime < due, values == before, values > 0 else { continue }
            let reply = PacketReply(RingRequest.measure, beginning: [current.kind])
            _ = try? await queue.ask(
                RingRequest.measure(current.kind, continues: true), for: reply, timeout: Self.stopTimeout, attempts: 1
            )
        }
        return nil
    }

    private func stopRing(_ kind: UInt8) async {
        let reply = PacketReply(RingRequest.stop)
        _ = try? await queue.ask(RingRequest.stop(kind), for: reply, timeout: Self.stopTimeout, attempts: 1)
    }

    private func event(_ end: End?, _ id: MeasurementID) -> DeviceEvent {
        switch end {
        case .failed(let error): return .measurementEnded(id, completed: false, error: error)
        case .stopped: return .measurementEnded(id, completed: false, error: nil)
        case nil:
            guard let running, running.values > 0 else {
                let error = running?.failure ?? DeviceError(.failure, "The ring found no value in time.")
                return .measurementEnded(id, completed: false, error: error)
            }
            return .measurementEnded(id, completed: true, error: nil)
        }
    }
}
