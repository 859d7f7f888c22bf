package import Concurrency
package import GatewayKit
package import Logging
package import Vitals

/// Everything that the gateway does for one device: an actor that owns the parts, each with one concern, and routes
/// events to them.
///
/// Agents are independent: one device never affects another.
package actor DeviceAgent {
    /// Opens a session with the device and keeps it open while the closure runs.
    package typealias Opener =
        @Sendable (_ body: @escaping @Sendable (any DeviceSession) async throws -> Void) async throws -> Void

    /// Maximum commands that wait or run at a time; one more is answered `busy`.
    package static let maximumCommands = 64

    nonisolated let context: DeviceContext
    /// Runs the work of the agent. An offline device has no other task than its own.
    nonisolated let launcher: TaskLauncher
    nonisolated let commands: CommandQueue
    let profile: DeviceProfile
    let projection: SharedProjection
    let link: DeviceConnection
    let wear: WearTracker
    let ingest: SampleIngest
    let live: LiveIngest
    let days: DailySummaryTracker
    let history: HistorySync
    let monitor: MonitorSync
    let measuring: Measuring
    let lane: CommandLane
    let tickTimer: TickTimer

    package nonisolated var id: DeviceID { context.id }

    /// Returns when the agent takes its turn: whether its thread is free.
    package func answer() {}

    /// - Parameters:
    ///   - timers: whose task runs while the agent runs.
    ///   - restoring: held while the state is read at the start: thousands of agents that read at once take much memory.
    ///   - window: lets live samples wait for those of other devices; `nil` stores them at once.
    ///   - presence: the transport reports here that the device is in reach.
    package init(
        info: DeviceInfo, policy: DevicePolicy, store: any DeviceStore, output: DeviceOutput, clock: GatewayClock,
        timers: Timers, restoring: AsyncMutex = AsyncMutex(), window: BatchWindow? = nil, logger: Logger,
        generator: any RandomNumberGenerator & Sendable,
        presence: DevicePresence = DevicePresence(), opener: @escaping Opener
    ) {
        let context = DeviceContext(
            id: info.id, wearers: info.wearers, policy: policy, store: store, output: output, clock: clock,
            restoring: restoring, logger: logger)
        let launcher = TaskLauncher()
        let answers = AnswerQueue(launcher: launcher, output.answer)
        let profile = DeviceProfile(info, context: context)
        let projection = SharedProjection(context: context)
        let link = DeviceConnection(
            context: context, timers: timers, opener: opener, presence: presence, generator: generator)
        let wear = WearTracker(context: context)
        let ingest = SampleIngest(
            context: context, profile: profile, projection: projection, wear: wear, onHeldBack: link.ignoreSilence)
        let days = DailySummaryTracker(context: context, profile: profile, projection: projection)
        self.context = context
        self.launcher = launcher
        self.commands = CommandQueue(launcher: launcher, answer: output.answer)
        self.profile = profile
        self.projection = projection
        self.link = link
        self.wear = wear
        self.ingest = ingest
        live = LiveIngest(ingest: ingest, window: window)
        self.days = days
        history = HistorySync(context: context, ingest: ingest, days: days, answers: answers)
        monitor = MonitorSync(context: context, profile: profile, ingest: ingest)
        measuring = Measuring(context: context, profile: profile, ingest: ingest, answers: answers, link: link)
        lane = CommandLane(context: context, profile: profile, projection: projection, link: link, answers: answers)
        tickTimer = TickTimer(context: context, timers: timers)
    }

    /// Serves the device until the task is cancelled or `stop` was called.
    package func run() async {
        launcher.launch { await self.begin() }
        await launcher.run()
        await conclude()
    }

    // Inlined, it would make the frame of `run` larger, which lives as long as the agent.
    @inline(never)
    private func conclude() async {
        end()
        tickTimer.cancel()
        link.conclude()
        await ingest.reportRefused(isFinal: true)
        await history.abandonJobs()
    }

    /// Makes `run` end, after a graceful disconnect to the device. Returns at once.
    package nonisolated func stop() {
        context.stopping.fulfil(())
        launcher.launch { await self.end() }
    }

    /// Adds a command to the device's lane and returns at once. It always gets a final answer.
    package nonisolated func submit(_ item: CommandItem) async {
        await commands.submit(item) { await self.handle($0) }
    }

    /// Synchronises everything if the device is connected. Returns the answer that a command would get.
    package func synchronise() async -> Answer {
        guard link.session != nil else {
            return Answer(.failed, code: .offline, message: "The device is not connected.")
        }
        return await history.synchronise(named: "gateway")
    }

    private func begin() async {
        if await restore() {
            launcher.launch { await self.connect() }
            launcher.launch { await self.runDueWork() }
        } else {
            end()
        }
        lane.open()
    }

    /// Keeps the device connected. After a failed attempt it returns, and is called again when the wait is over.
    private func connect(after wait: RetryTimer.Number? = nil) async {
        await link.keepConnected(after: wait) { session, attempt in
            try await self.runSession(session, attempt)
        } onWaited: { [weak self] wait in
            guard let self else { return }
            launcher.launch { await self.connect(after: wait) }
        }
    }

    /// Starts nothing new, and releases what waits.
    private func end() {
        context.stopping.fulfil(())
        commands.close()
        link.end(.stopped)
        launcher.finish()
    }

    // MARK: - Start

    /// Wait before a store that could not be read is tried again.
    private static let restoreRetry: Duration = .seconds(5)

    /// Restores the state from the store, and retries until it can be read: nothing works without it.
    private func restore() async -> Bool {
        var failures = RepeatedNotice()
        while true {
            do throws(StoreError) {
                try await context.restoring.withLock { () async throws(StoreError) in
                    try await restore(from: context.store.load(id))
                }
                return true
            } catch {
                if failures.isDue("\(error)", at: context.clock.uptime) {
                    context.logger.error(
                        "The device's state cannot be read; trying again.",
                        metadata: ["error": "\(error)", "failures": "\(failures.count)"])
                }
            }
            guard await context.pause(for: Self.restoreRetry) else { return false }
        }
    }

    private func restore(from stored: DeviceRecord) async throws(StoreError) {
        var record = stored
        if let from = context.policy.from, record.erasures.moments.values.contains(where: { $0 > from }) {
            try await context.store.save([.takenAgain(from: from)], of: id)
            record.cursors = [:]
        }
        profile.restore(from: record)
        link.restore(lastSeen: record.lastSeen)
        ingest.restore(record.erasures)
        projection.restore(from: record)
        monitor.restore(record.twin)
        history.restore(from: record)
        try await days.restore()
        // Past days are settled with the first tick, so that a full disk does not keep the device from connecting.
        publishAll()
        try await ingest.publishWhose()
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
        ingest.publishLatest()
        days.publishToday()
    }
}
