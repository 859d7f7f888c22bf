import Concurrency
package import GatewayKit
package import Logging
package import StoreAPI
package import Vitals

/// Everything that the gateway does for one device: an actor that owns the parts, each with one concern, and routes
/// events to them.
///
/// Agents are independent: whatever one device does, no other is affected.
package actor DeviceAgent {
    /// Opens a session with the device and keeps it open while the closure runs.
    package typealias Opener =
        @Sendable (_ body: @escaping @Sendable (any DeviceSession) async throws -> Void) async throws -> Void

    /// Maximum commands that wait or run at a time; one more is answered `busy`.
    package static let maximumCommands = 64

    package nonisolated let id: DeviceID
    nonisolated let context: DeviceContext
    nonisolated let commands: CommandQueue
    nonisolated let answers: AnswerLine
    let profile: DeviceProfile
    let projection: SharedProjection
    let link: LinkKeeper
    let wear: WearKeeper
    let intake: SampleIntake
    let live: LiveIntake
    let days: DayKeeper
    let history: HistorySync
    let monitor: MonitorSync
    let measuring: Measuring
    let lane: CommandLane

    /// Returns when the agent takes its turn: whether its thread is free.
    package func answer() {}

    /// - Parameters:
    ///   - pace: lets live samples wait for those of other devices; `nil` stores them at once.
    ///   - presence: where the device's transport says that it is there.
    package init(
        info: DeviceInfo, policy: DevicePolicy, store: any DeviceStore, output: DeviceOutput, clock: GatewayClock,
        pace: CommitPace? = nil, logger: Logger, generator: any RandomNumberGenerator & Sendable,
        presence: DevicePresence = DevicePresence(), opener: @escaping Opener
    ) {
        let context = DeviceContext(
            id: info.id, wearers: info.wearers, policy: policy, store: store, output: output, clock: clock,
            logger: logger)
        let answers = AnswerLine(output.answer)
        let profile = DeviceProfile(info, context: context)
        let projection = SharedProjection(context: context)
        let link = LinkKeeper(context: context, opener: opener, presence: presence, generator: generator)
        let wear = WearKeeper(context: context)
        let intake = SampleIntake(
            context: context, profile: profile, projection: projection, wear: wear, onHeldBack: link.ignoreSilence)
        let days = DayKeeper(context: context, profile: profile, projection: projection)
        id = info.id
        self.context = context
        self.commands = CommandQueue(answer: output.answer)
        self.answers = answers
        self.profile = profile
        self.projection = projection
        self.link = link
        self.wear = wear
        self.intake = intake
        live = LiveIntake(intake: intake, pace: pace)
        self.days = days
        history = HistorySync(context: context, intake: intake, days: days, answers: answers)
        monitor = MonitorSync(context: context, profile: profile, intake: intake)
        measuring = Measuring(context: context, profile: profile, intake: intake, answers: answers, link: link)
        lane = CommandLane(context: context, profile: profile, projection: projection, link: link, answers: answers)
    }

    /// Serves the device until the task is cancelled or `stop` was called.
    package func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.answers.run() }
            await serve()
            answers.finish()
        }
    }

    /// Makes `run` end, after a goodbye to the device. Returns at once.
    package nonisolated func stop() { context.stopping.fulfil(()) }

    /// Adds a command to the device's lane and returns at once. It always gets a final answer.
    package nonisolated func submit(_ item: CommandItem) async { await commands.submit(item) }

    /// Synchronises everything if the device is connected. Returns the answer that a command would get.
    package func synchronise() async -> Answer {
        guard link.session != nil else {
            return Answer(.failed, code: .offline, message: "The device is not connected.")
        }
        return await history.synchronise(named: "gateway")
    }

    private func serve() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.awaitStop() }
            guard await restore() else {
                end()
                return await serveCommands()
            }
            group.addTask { await self.keepTime() }
            group.addTask { await self.serveCommands() }
            await link.keepConnected { session, attempt in try await self.runSession(session, attempt) }
            end()
            await intake.reportRefused(isFinal: true)
            await history.abandonJobs()
        }
    }

    private func awaitStop() async {
        do { try await context.stopping.wait() } catch { return }
        end()
    }

    /// Starts nothing new, and releases what waits.
    private func end() {
        stop()
        commands.finish()
        link.end(.stopped)
    }

    // MARK: - Start

    /// Wait before a store that could not be read is tried again.
    private static let restoreRetry: Duration = .seconds(5)

    /// Restores the state from the store, and retries until it can be read: nothing works without it.
    private func restore() async -> Bool {
        var failures = FailureCount()
        while true {
            do throws(StoreError) {
                try await restore(from: context.store.load(id))
                return true
            } catch {
                if failures.countAndDecideToLog() {
                    context.logger.error(
                        "The device's state cannot be read; trying again.",
                        metadata: ["error": "\(error)", "failures": "\(failures.count)"])
                }
            }
            guard await context.pause(for: Self.restoreRetry) else { return false }
        }
    }

    private func restore(from record: DeviceRecord) async throws(StoreError) {
        profile.restore(from: record)
        link.restore(lastSeen: record.lastSeen)
        projection.restore(from: record)
        monitor.restore(record.twin)
        history.restore(from: record)
        try await days.restore()
        // Past days are settled with the first tick, so that a full disk does not keep the device from connecting.
        publishAll()
    }

    /// Publishes all parts of the state at the start.
    private func publishAll() {
        profile.publish()
        link.publishAvailability(always: true)
        context.publish(.link(link.state))
        context.publish(.config(monitor.state))
        context.publish(.sync(history.state))
        context.publish(.measure(MeasureState()))
        wear.publish()
        for level in projection.current.alerts.levels { context.publish(.level(level)) }
        intake.publishLatest()
        days.publishToday()
    }

    // MARK: - Time

    /// Interval at which the parts check the time. The running day is published at most this often.
    private static let tick: Duration = .seconds(5)
    /// Minimum wait, so that values that go stale at almost the same time do not make the loop spin.
    private static let shortestWait: Duration = .milliseconds(10)

    /// Does what is due: values go stale, days end, synchronisations and measurements begin.
    private func keepTime() async {
        while !context.isStopping {
            await keepTimeOnce()
            let expiry = intake.nextExpiry.map { $0 - context.clock.now } ?? Self.tick
            guard await context.pause(for: max(Self.shortestWait, min(Self.tick, expiry))) else { return }
        }
    }

    private func keepTimeOnce() async {
        link.publishAvailability(always: false)
        intake.publishLatest()
        await days.refreshDays(settlesPast: !history.isRunning)
        await link.saveLastSeen(isFinal: false)
        await intake.reportRefused(isFinal: false)
        guard link.session != nil else { return }
        history.requestIfDue()
        await measuring.keepTime(monitor.settings)
    }
}
