import GatewayKit
import Logging
import Vitals

/// A session that is open, and how its parts end it.
struct OpenSession: Sendable {
    let description: DeviceDescription
    /// Opened with the reason why the session is to end.
    let end: Latch<SessionEnd>
    /// Work that needs the session; it runs within it and ends with it.
    let work: AsyncStream<SessionWork>.Continuation
}

/// Why a session ended.
enum SessionEnd: Error {
    /// The gateway stops, or the device was removed.
    case stopped
    /// Somebody wants a new connection.
    case reconnect
    case failed(String)
}

/// Something that needs the open session.
struct SessionWork: Sendable {
    let run: @Sendable (any DeviceSession) async -> Void
    /// Called in its place when the session is over.
    let abandon: @Sendable () -> Void
}

extension DeviceAgent {
    /// A clock that is off by less is left alone: devices keep whole seconds, and the question takes its time.
    static let clockTolerance: Duration = .seconds(2)

    /// Performs what the connection engine decides, until the task is cancelled or the device is stopped.
    func keepConnected() async {
        var event = ConnectionMachine.Event.start
        while !Task.isCancelled, stopping.value == nil {
            var next: ConnectionMachine.Event?
            for action in connection.handle(event, at: clock.now) {
                switch action {
                case .publish(let state): publish(.link(state))
                case .open: next = .ended(await converseOnce())
                case .wait(let duration):
                    await waitToRetry(duration)
                    next = .woken
                case .close: break
                }
            }
            guard let next else { break }
            event = next
        }
        for case .publish(let state) in connection.handle(.stop, at: clock.now) { publish(.link(state)) }
    }

    /// Asks for a new connection.
    func reconnect() {
        for action in connection.handle(.reconnect, at: clock.now) {
            switch action {
            case .close: attempt?.open(.reconnect)
            case .wait: wake.open(())
            default: break
            }
        }
    }

    private func waitToRetry(_ duration: Duration) async {
        guard duration > .zero else { return }
        let wake = wake
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [clock] in try? await clock.sleep(for: duration) }
            group.addTask { _ = try? await wake.wait() }
            await group.next()
            group.cancelAll()
        }
        if stopping.value == nil { self.wake = Latch() }
    }

    /// Opens a session and holds it. Returns why it ended, `nil` where it was meant to.
    private func converseOnce() async -> String? {
        let end = Latch<SessionEnd>()
        attempt = end
        defer { attempt = nil }
        if stopping.value != nil { return nil }
        do {
            try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask { [opener] in
                    try await opener { session in try await self.converse(session, end: end) }
                    return true
                }
                // Ends an attempt that does not come to a session. A session that is open ends by itself, after a goodbye.
                group.addTask {
                    let reason = try await end.wait()
                    if await self.session?.end === end { return false }
                    throw reason
                }
                defer { group.cancelAll() }
                while let isOver = try await group.next(), !isOver {}
            }
            return "The device closed the connection."
        } catch SessionEnd.stopped, SessionEnd.reconnect {
            return nil
        } catch SessionEnd.failed(let message) {
            return message
        } catch is CancellationError {
            return "The connection was cancelled."
        } catch {
            return "\(error)"
        }
    }

    private func converse(_ device: any DeviceSession, end: Latch<SessionEnd>) async throws {
        let (work, source) = AsyncStream.makeStream(
            of: SessionWork.self, bufferingPolicy: .bufferingOldest(Self.maximumCommands))
        session = OpenSession(description: device.description, end: end, work: source)
        await greet(device.description)
        let failure = await serve(device, work: work, end: end)
        await close(source)
        throw failure
    }

    /// Runs everything that the session needs, until one of its parts ends it. Returns the reason.
    private func serve(
        _ device: any DeviceSession, work: AsyncStream<SessionWork>, end: Latch<SessionEnd>
    ) async -> any Error {
        await withTaskGroup(of: (any Error)?.self) { group in
            func part(_ body: @escaping @Sendable () async throws -> Void) {
                group.addTask {
                    do { try await body() } catch { return error }
                    return nil
                }
            }

            part { try await self.receive(from: device) }
            part { try await self.watch(device) }
            part { await self.serve(work, on: device) }
            part {
                await self.prepare(device)
                try await self.synchronise(device)
            }
            part {
                let reason = try await end.wait()
                if case .stopped = reason { await self.sayGoodbye(to: device) }
                throw reason
            }
            if stopping.value != nil { end.open(.stopped) }
            var reason: (any Error)?
            while reason == nil, let ended = await group.next() { reason = ended }
            group.cancelAll()
            return reason ?? SessionEnd.failed("The session ended.")
        }
    }

    /// What is known as soon as the session is open.
    private func greet(_ description: DeviceDescription) async {
        let now = clock.now
        if let seen = lastSeen, let days = description.capabilities.maximumHistoryDays,
            seen < now - .days(max(days, 1))
        {
            lossFrom = lossFrom ?? sync.state.lastSuccessAt
        }
        heard(at: now)
        let skew = description.clock.map { Double(($0.now - now).inMilliseconds) / 1000 }
        for case .publish(let state) in connection.handle(.opened(clockSkew: skew), at: now) { publish(.link(state)) }
        if info.identity != description.identity || info.capabilities != description.capabilities {
            info.identity = description.identity
            info.capabilities = description.capabilities
            await keep([.identity(description.identity, description.capabilities)])
            publish(.info(info))
        }
        logger.info("The device is connected.")
        connected.open(())
    }

    private func close(_ source: AsyncStream<SessionWork>.Continuation) async {
        session = nil
        connected = Latch()
        source.finish()
        isWorn = true
        measurementDeadline = nil
        await perform(measurement.handle(.disconnected, at: clock.now))
        await abandonJobs()
        await keepLastSeen()
        logger.info("The device is disconnected.")
    }

    /// Sets the clock and brings the monitoring in step, before the history is read.
    private func prepare(_ device: any DeviceSession) async {
        if let shown = device.description.clock, isOff(shown) {
            logger.notice("The device's clock is off and is set.")
            do throws(DeviceError) { try await setClock(of: device) } catch {
                logger.warning("The device's clock cannot be set.", metadata: ["error": "\(error)"])
            }
        }
        do throws(DeviceError) { try await refreshMonitoring(of: device, metrics: []) } catch {
            logger.warning("The device's monitoring cannot be read.", metadata: ["error": "\(error)"])
        }
    }

    private func isOff(_ shown: DeviceClock) -> Bool {
        let now = clock.now
        let offset = policy.calendar.offset(at: now).seconds / 60
        let skew = shown.now - now
        return max(skew, .zero - skew) > Self.clockTolerance || (shown.utcOffset ?? offset) != offset
    }

    func setClock(of device: any DeviceSession) async throws(DeviceError) {
        try await call("time/set", DeviceTimeouts.call) { [clock, policy] () async throws(DeviceError) in
            let now = clock.now
            try await device.setClock(now, utcOffset: policy.calendar.offset(at: now).seconds / 60)
        }
    }

    private nonisolated func sayGoodbye(to device: any DeviceSession) async {
        try? await withDeadline(DeviceTimeouts.shutdown, clock: clock, naming: "the goodbye") {
            () async throws(DeviceError) in
            await device.shutdown()
        }
    }

    /// Asks a device that is silent whether it is still there.
    private func watch(_ device: any DeviceSession) async throws {
        var pinged = clock.uptime
        while true {
            let silent = clock.uptime - max(lastHeard, pinged)
            guard silent >= DeviceTimeouts.idle else {
                try await clock.sleep(for: DeviceTimeouts.idle - silent)
                continue
            }
            try await withDeadline(DeviceTimeouts.ping, clock: clock, naming: "a ping") {
                () async throws(DeviceError) in try await device.ping()
            }
            pinged = clock.uptime
            heard(at: clock.now)
        }
    }

    /// Runs what needs the session, each on its own, until the session ends.
    private nonisolated func serve(_ work: AsyncStream<SessionWork>, on device: any DeviceSession) async {
        await withDiscardingTaskGroup { group in
            for await item in work {
                if Task.isCancelled {
                    item.abandon()
                } else {
                    group.addTask { await item.run(device) }
                }
            }
        }
    }
}
