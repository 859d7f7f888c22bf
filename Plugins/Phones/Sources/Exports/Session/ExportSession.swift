package import GatewayKit
import Logging
import Synchronization
package import Vitals

/// A session with a device by its exports: the history is what the export has, and what a newer export changes is an event.
package final class ExportSession: DeviceSession {
    package let description: DeviceDescription
    private let source: ExportSource
    private let context: SessionContext
    private let inbox = EventInbox()
    private let firstReading: FirstReading
    private let isOpen = Mutex(true)
    private let batches = SettledBatches()

    /// Samples of one batch of changes. The next one is read when they are durable.
    static let batch = 500
    /// An older charge says nothing of the present one.
    static let batteryAge: Duration = .days(1)

    init(_ source: ExportSource, _ description: DeviceDescription, _ context: SessionContext) {
        self.source = source
        self.description = description
        self.context = context
        firstReading = FirstReading(description.capabilities.metrics(with: .history))
    }

    package func nextEvents() async throws(DeviceError) -> [DeviceEvent]? { try await inbox.next() }

    package func history(_ request: HistoryRequest) async throws(DeviceError) -> HistoryPage {
        firstReading.noteRequest(of: request.metric)
        let page = try await page(request)
        firstReading.noteAnswer(page, of: request.metric)
        return page
    }

    package func acknowledgeHistory(of metric: Metric, through: Timestamp) async throws(DeviceError) {
        firstReading.noteAcknowledgement(of: metric)
    }

    private func page(
        _ request: HistoryRequest, takesBack: Bool = false
    ) async throws(DeviceError) -> HistoryPage {
        guard isOpen.withLock({ $0 }) else { throw DeviceError(.disconnected, "The session is over.") }
        guard description.capabilities.supports(.history, request.metric) else {
            throw .unsupported("the history of \(request.metric.rawValue)")
        }
        do throws(ExportError) {
            return try await source.page(
                request, calendar: context.calendar, now: context.clock.now, takesBack: takesBack)
        } catch {
            throw DeviceError(.failure, error.message)
        }
    }

    package func settle(_ receipts: [SettledReceipt]) async throws(DeviceError) { batches.settle(receipts) }

    /// Ends the session. Its locks must not be inlined in a function that waits between them: Decision 165.
    @inline(never)
    package func close(_ error: DeviceError? = nil) {
        isOpen.withLock { $0 = false }
        inbox.finish(error)
    }

    // MARK: - New exports

    /// Sends what is new, now and with each new export, until the task is cancelled.
    /// - Parameter news: runs its body with a wait for the next change of the folder.
    func follow(
        _ news: ((_ nextChange: @Sendable () async throws -> Void) async throws -> Void) async throws -> Void
    ) async throws {
        do {
            try await news { try await followExports($0) }
        } catch {
            // The reader of events gets the error, too.
            close(error as? DeviceError ?? DeviceError(.disconnected, "The session with the export is over: \(error)"))
            throw error
        }
    }

    private func followExports(_ nextChange: @Sendable () async throws -> Void) async throws {
        var batteryAt: Timestamp?
        while true {
            if let battery = await source.battery, batteryAt.map({ battery.at > $0 }) ?? true,
                battery.at <= context.clock.now + OpenExport.future,
                context.clock.now - battery.at <= Self.batteryAge
            {
                batteryAt = battery.at
                await inbox.send([.battery(percent: battery.percent, isCharging: nil)])
            }
            let skipped = await source.takeSkipped()
            if !skipped.isEmpty { await inbox.send(skipped.map { .skipped($0) }) }
            try await firstReading.wait(clock: context.clock)
            try await sendChanges()
            try await waitForExport(nextChange)
        }
    }

    private func waitForExport(_ nextChange: @Sendable () async throws -> Void) async throws {
        var pause: Duration?
        var problem: String?
        while true {
            if let pause {
                try await context.clock.sleep(for: pause)
            } else {
                try await nextChange()
            }
            pause = nil
            do throws(ExportError) {
                switch try await source.check(context) {
                case .nothing: continue
                case .retryAfter(let time):
                    pause = time
                    continue
                case .found: break
                }
            } catch {
                // The export in use stays. The same problem is logged once.
                if error.message != problem {
                    context.logger.warning("The export cannot be read now.", metadata: ["error": "\(error.message)"])
                }
                problem = error.message
                continue
            }
            return try await checkCapabilities()
        }
    }

    /// Begins a new session where the export has a metric that this one does not offer.
    private func checkCapabilities() async throws {
        guard await source.capabilities != description.capabilities else { return }
        throw DeviceError(.disconnected, "The export has other kinds of records now; a new session reads them.")
    }

    /// Sends the samples of all days that are not as the gateway knows them, batch by batch, each when the one before is durable.
    private func sendChanges() async throws {
        var report = DocumentReport()
        let (changes, digests) = try await source.undelivered(context)
        for change in changes where description.capabilities.supports(.history, change.metric) {
            var page: String?
            repeat {
                let found = try await self.page(
                    HistoryRequest(
                        metric: change.metric, from: change.from, to: change.to, page: page, limit: Self.batch),
                    takesBack: change.wasKnown)
                page = found.next
                // Nothing more is read before these are durable.
                let horizon = context.clock.now + OpenExport.future
                let samples = found.samples.filter { $0.end <= horizon }
                let outcomes = try await batches.send(samples, to: inbox)
                for (sample, outcome) in zip(samples, outcomes) where sample.claim != .correction || outcome != .known {
                    report.count(outcome)
                }
            } while page != nil
        }
        await source.deliver(digests, report, context)
    }
}
