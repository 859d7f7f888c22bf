package import GatewayKit
package import Logging
package import Vitals

/// Everything that the gateway does for one device: the shell around its engines.
///
/// It connects, receives, keeps, synchronises, monitors, measures and answers, and is on its own: whatever its device
/// does, no other device notices.
package actor DeviceAgent {
    /// Opens a session with the device and keeps it open for as long as the closure runs.
    package typealias Opener =
        @Sendable (_ body: @escaping @Sendable (any DeviceSession) async throws -> Void) async throws -> Void

    /// Commands that may wait or run at the same time; one more is answered `busy`.
    package static let maximumCommands = 64

    package nonisolated let id: DeviceID
    let policy: DevicePolicy
    let store: any GatewayStore
    let output: DeviceOutput
    let clock: GatewayClock
    let logger: Logger
    let opener: Opener

    // The engines, and what they know.
    var info: DeviceInfo
    var ledger: DeviceLedger
    var connection: ConnectionMachine
    var twin: TwinMachine
    /// The twin as the store has it.
    var keptTwin: TwinState?
    /// The limits that the alerts went by last.
    var appliedLimits = MonitorSettings()
    var sync: SyncMachine
    var measurement = MeasurementMachine()
    var schedule = MeasurementSchedule()
    var cursors: [Metric: Timestamp] = [:]
    var unsettled: Set<MetricDay> = []
    /// The running day as it was published: its counters never fall.
    var publishedToday: [Metric: DailySummary] = [:]
    /// Those of them that the store has.
    var keptToday: [Metric: DailySummary] = [:]
    /// What the device itself says of the running day, or said of an earlier one.
    var deviceToday: [Metric: DailySummary] = [:]
    var lastSeen: Timestamp?
    var lastSeenSaved: Timestamp?
    /// When the device last gave a sign of life, by the steady clock.
    var lastHeard: Duration = .zero
    var isOnline = false
    /// Looks at the time in a row at which the days could not be summarised.
    var dayFailures = FailureCount()
    var isWorn = true
    var malformed = 0
    /// Metrics that the device sent, and which its capabilities do not name.
    var undeclared: Set<Metric> = []
    var publishedLatest: [Metric: LatestState] = [:]

    /// Metrics whose newest sample came from a synchronisation that still runs: they are published at its end.
    var heldLatest: Set<Metric> = []
    /// When the measurement that runs counts as overdue, by the steady clock.
    var measurementDeadline: (at: Duration, attempt: Int)?

    // The session that is open.
    var session: OpenSession?
    /// Ends the connection, or the attempt to come to one.
    var attempt: Latch<SessionEnd>?
    /// Opens with each connection, for commands that wait for one.
    var connected = Latch<Void>()
    /// Opens when the wait for the next attempt is to end early.
    var wake = Latch<Void>()
    var jobs: [SyncJob] = []
    /// When the next scheduled synchronisation is due, by the steady clock.
    var nextSync: Duration?
    /// Until when the device had been read before it was away for longer than it keeps its history, until that is told.
    var lossFrom: Timestamp?
    var jobSignal = Latch<Void>()
    /// Queries that wait for their synchronisation, by the key under which it would be answered.
    var syncWaiters: [String: Latch<SyncState>] = [:]

    /// Lets one intake through at a time: each stands on the ledger that the one before left.
    let intakeGate = SerialGate()
    /// Lets one conversation about the monitoring through at a time.
    let pushGate = SerialGate()
    /// Lets one change of the twin through at a time, until it is on disk.
    let twinGate = SerialGate()
    let stopping = Latch<Void>()
    let commands: AsyncStream<CommandItem>
    let commandSource: AsyncStream<CommandItem>.Continuation
    var commandCount = 0
    /// Answers on their way out, no more than there are commands. A task of their own gives them, in order: who found an
    /// answer may be cancelled, because the session is lost, while it is written down.
    let answers: AsyncStream<(key: String, answer: Answer)>
    let answerSource: AsyncStream<(key: String, answer: Answer)>.Continuation

    package init(
        info: DeviceInfo, policy: DevicePolicy, store: any GatewayStore, output: DeviceOutput, clock: GatewayClock,
        logger: Logger, generator: any RandomNumberGenerator & Sendable, opener: @escaping Opener
    ) {
        self.id = info.id
        self.info = info
        self.policy = policy
        self.store = store
        self.output = output
        self.clock = clock
        self.logger = logger
        self.opener = opener
        let now = clock.now
        self.ledger = DeviceLedger(device: info.id, today: RunningDay(day: policy.calendar.day(of: now)))
        self.connection = ConnectionMachine(at: now, generator: generator)
        self.twin = TwinMachine(state: TwinState(updatedAt: now))
        self.sync = SyncMachine(policy: policy.sync, lastSuccessAt: nil)
        (commands, commandSource) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.maximumCommands))
        (answers, answerSource) = AsyncStream.makeStream()
    }

    /// Serves the device until the task is cancelled or `stop` was called.
    package func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.giveAnswers() }
            await serve()
            answerSource.finish()
        }
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
            await keepConnected()
            end()
            await abandonJobs()
        }
    }

    /// Lets the device hear a goodbye and `run` end. Returns at once.
    package nonisolated func stop() { stopping.open(()) }

    private func awaitStop() async {
        do { try await stopping.wait() } catch { return }
        end()
    }

    /// From here on nothing new begins, and what waits is let go.
    private func end() {
        stopping.open(())
        commandSource.finish()
        attempt?.open(.stopped)
        wake.open(())
    }

    func publish(_ state: DeviceState) { output.state(id, state) }

    /// How long to wait before a store that cannot be read is tried again.
    private static let restoreRetry: Duration = .seconds(5)

    /// Reads what the store knows; waits for a store that cannot be read, since nothing can be done without it.
    private func restore() async -> Bool {
        var failures = FailureCount()
        while true {
            do throws(StoreError) {
                try await restore(from: store.load(id))
                return true
            } catch {
                if failures.addIsTold() {
                    logger.error(
                        "The device's state cannot be read; trying again.",
                        metadata: ["error": "\(error)", "failures": "\(failures.count)"])
                }
            }
            guard await pause(for: Self.restoreRetry) else { return false }
        }
    }

    private func restore(from record: DeviceRecord) async throws(StoreError) {
        info.identity = record.identity
        info.capabilities = record.capabilities
        info.hasBattery = record.hasBattery
        cursors = record.cursors
        unsettled = record.unsettledDays
        lastSeen = record.lastSeen
        lastSeenSaved = record.lastSeen
        if let twin = record.twin { self.twin = TwinMachine(state: twin) }
        keptTwin = record.twin
        appliedLimits = twin.settings
        sync = SyncMachine(policy: policy.sync, lastSuccessAt: record.lastSyncAt)
        let today = policy.calendar.day(of: clock.now)
        ledger = DeviceLedger(
            device: id, latest: record.latest, highWater: record.highWater, levels: record.levels,
            today: RunningDay(day: today))
        ledger.marked = unsettled
        try await loadToday()
        // Days before today are settled with the first look at the time: a full disk does not keep the device away.
        publishAll()
    }

    /// Publishes every part of the state, at the start.
    private func publishAll() {
        publish(.info(info))
        publishAvailability(always: true)
        publish(.link(connection.state))
        publish(.config(twin.state))
        publish(.sync(sync.state))
        publish(.measure(MeasureState()))
        for level in ledger.alerts.levels { publish(.level(level)) }
        publishLatest()
        publishToday()
    }
}
