import Concurrency
import GatewayKit
import Logging
import Vitals

/// The events of a session.
extension DeviceAgent {
    /// Clock errors up to this are ignored: devices keep whole seconds, and the query takes time.
    static let clockTolerance: Duration = .seconds(2)

    func runSession(_ device: any DeviceSession, _ attempt: ConnectionAttempt) async throws {
        let description = device.description
        let work = link.open(description, attempt)
        history.recordAbsence(since: link.lastSeen, description.capabilities)
        link.reportConnected(description)
        projection.overlaps = description.overlaps
        await profile.update(description)
        context.logger.info("The device is connected.")
        link.admitCommands()
        scheduleTick(within: Self.tick)
        let failure = await serve(device, work: work, attempt: attempt)
        await live.storeRest()
        link.close()
        wear.forget()
        await measuring.disconnect()
        await history.abandonJobs()
        history.publish(progress: nil)
        history.publishSkipped()
        await link.saveLastSeen(isFinal: true)
        context.logger.info("The device is disconnected.", metadata: ["reason": "\(failure)"])
        throw failure
    }

    /// Runs all parts of the session until one of them ends it. Returns the reason.
    private func serve(
        _ device: any DeviceSession, work: Mailbox<SessionWork, Never>, attempt: ConnectionAttempt
    ) async -> any Error {
        await withTaskGroup(of: (any Error)?.self) { group in
            func part(_ body: @escaping @Sendable () async throws -> Void) {
                group.addTask {
                    do { try await body() } catch { return error }
                    return nil
                }
            }

            part { try await self.receive(from: device) }
            part { try await self.storeWaiting(from: device) }
            part { try await self.watch(device) }
            part { try await self.followSignal(of: device) }
            part { await self.perform(work, on: device) }
            part {
                await self.prepare(device)
                try await self.synchronise(device)
            }
            part {
                let reason = try await attempt.end.wait()
                if case .stopped = reason { await self.shutDown(device) }
                throw reason
            }
            if context.isStopping { attempt.end.fulfil(.stopped) }
            var reason: (any Error)?
            while reason == nil, let ended = await group.next() { reason = ended }
            link.beginEnd()
            group.cancelAll()
            return reason ?? SessionEnd.failed("The session ended.")
        }
    }

    private func channel(to device: any DeviceSession) -> DeviceChannel { DeviceChannel(device: device, link: link) }

    private func storeWaiting(from device: any DeviceSession) async throws { try await live.run(from: device) }

    private func watch(_ device: any DeviceSession) async throws { try await link.watch(device) }

    private func followSignal(of device: any DeviceSession) async throws {
        try await link.followSignal(of: device) { await self.noteSignal($0) }
    }

    private func noteSignal(_ strength: Int) async {
        link.noteSignal(strength)
        await profile.update(.signal)
    }

    private func synchronise(_ device: any DeviceSession) async throws {
        try await history.run(on: channel(to: device))
    }

    private nonisolated func shutDown(_ device: any DeviceSession) async {
        try? await context.clock.withDeadline(DeviceTimeouts.shutdown, naming: "the graceful disconnect") {
            () async throws(DeviceError) in
            await device.shutdown()
        }
    }

    // MARK: - What the device sends

    /// Handles events from the device until the session ends. Takes no more while it stores samples itself: events gather
    /// in the driver's bounded inbox and are stored together.
    private func receive(from device: any DeviceSession) async throws {
        while let events = try await device.nextEvents() {
            link.markSeen()
            for event in events {
                if case .samples(let samples, let receipts) = event {
                    live.add(samples, receipts)
                    continue
                }
                // Store samples first, so that later events do not overtake them.
                try await live.store(from: device)
                try await handle(event, from: device)
            }
            try await live.scheduleStore(device)
        }
        throw SessionEnd.failed("The device closed the connection.")
    }

    // Inlined, it would make the frame of `receive`, which lives as long as the session, 23 kB large.
    @inline(never)
    private func handle(_ event: DeviceEvent, from device: any DeviceSession) async throws {
        switch event {
        case .samples: break
        case .measurementSample(let measurement, let sample): try await measuring.receive(sample, of: measurement)
        case .measurementEnded(let measurement, let completed, let error):
            await measuring.end(measurement, completed: completed, error: error)
        case .readingFailed(let measurement, let error): await measuring.fail(error, of: measurement)
        case .battery(let percent, let isCharging):
            if let isCharging {
                wear.change(isCharging: isCharging)
                await profile.update(.charging)
            }
            try await ingest.storeBattery(percent: percent)
        case .wear(let isWorn):
            wear.change(isWorn: isWorn)
            await profile.update(.worn)
        case .signal(let strength): await noteSignal(strength)
        case .alert(let alert): try await ingest.storeAlert(alert)
        case .alerts(let alerts, let receipts): try await ingest.storeAlerts(alerts, receipts, from: device)
        case .warnings(let warnings, let receipts):
            try await ingest.storeWarnings(warnings, receipts, from: device)
        case .unreadable(let sample): await measuring.refuse(sample)
        case .malformed(let problem): ingest.ignore(problem)
        case .skipped(let values): ingest.skip(values)
        case .progress(let share): history.publish(progress: share)
        }
    }

    // MARK: - Requests to the device

    /// Runs work that needs the session concurrently, until the session ends.
    private nonisolated func perform(
        _ work: Mailbox<SessionWork, Never>, on device: any DeviceSession
    ) async {
        await withDiscardingTaskGroup { group in
            await work.forEach { item in
                if Task.isCancelled {
                    item.abandon()
                } else {
                    group.addTask { await self.perform(item, on: device) }
                }
            }
        }
    }

    private func perform(_ work: SessionWork, on device: any DeviceSession) async {
        let channel = channel(to: device)
        switch work {
        case .measurement(let order): await measuring.carryOut(order, on: channel)
        case .push(let reply):
            reply.fulfil(await result { () async throws(DeviceError) in try await monitor.push(to: channel) })
        case .fetch(let metrics, let reply):
            reply.fulfil(
                await result { () async throws(DeviceError) in try await monitor.refresh(metrics, on: channel) })
        case .setClock(let reply):
            reply.fulfil(await result { () async throws(DeviceError) in try await setClock(on: channel) })
        }
    }

    private func result<Value>(
        _ body: () async throws(DeviceError) -> Value
    ) async -> Result<Value, DeviceError> {
        do throws(DeviceError) { return .success(try await body()) } catch { return .failure(error) }
    }

    /// Sets the clock and synchronises the monitoring before the history is read.
    private func prepare(_ device: any DeviceSession) async {
        let channel = channel(to: device)
        if let shown = device.description.clock, isOff(shown) {
            context.logger.notice("The device's clock is wrong; setting it.")
            do throws(DeviceError) { try await setClock(on: channel) } catch {
                context.logger.warning("The device's clock cannot be set.", metadata: ["error": "\(error)"])
            }
        }
        do throws(DeviceError) {
            for failure in try await monitor.refresh(on: channel) { warn(failure.error) }
        } catch { warn(error) }
    }

    private func warn(_ error: DeviceError) {
        context.logger.warning("The device's monitoring cannot be read.", metadata: ["error": "\(error)"])
    }

    private func isOff(_ shown: DeviceClock) -> Bool {
        let now = context.clock.now
        let offset = context.policy.calendar.offset(at: now).seconds / 60
        let skew = shown.now - now
        return max(skew, .zero - skew) > Self.clockTolerance || (shown.utcOffset ?? offset) != offset
    }

    private func setClock(on channel: DeviceChannel) async throws(DeviceError) {
        try await channel.call("time/set") {
            [clock = context.clock, policy = context.policy] device throws(DeviceError) in
            let now = clock.now
            try await device.setClock(now, utcOffset: policy.calendar.offset(at: now).seconds / 60)
        }
    }
}
