import Concurrency
import GatewayKit
import Logging
import Synchronization
import Vitals

/// A session with a phone: its documents become samples, and each gets its answer when all of its samples are settled.
final class PhoneSession<App: PhoneApp>: DocumentSession {
    static var title: String { "The phone's session" }
    let description: DeviceDescription
    let metrics: Set<Metric>
    let source: String?
    let order: SourceOrder
    /// The phone's own exports.
    private let input: ExportInput?
    /// Whether this session has reported that several sources count.
    private let hasReported = Mutex(false)
    /// The records of this session that are no samples.
    private let dropped = Mutex(0)
    private let emptyDocuments: EmptyDocuments
    private let sentAlerts: SentAlerts
    let context: SessionContext
    let inbox = EventInbox()
    private let batches = SettledBatches()
    let isOver = Promise<Void>()

    init(
        _ options: PhoneOptions, _ emptyDocuments: EmptyDocuments, _ sentAlerts: SentAlerts, _ context: SessionContext,
        _ input: ExportInput? = nil
    ) {
        self.input = input
        self.context = context
        self.emptyDocuments = emptyDocuments
        self.sentAlerts = sentAlerts
        metrics = Set(options.metrics)
        source = options.source
        order = options.order
        var abilities = Dictionary(uniqueKeysWithValues: metrics.map { ($0, Abilities()) })
        // What a watch warns of is about the heart rate, and not wanted without it.
        if App.hasWarnings, abilities[.heartRate] != nil { abilities[.heartRate] = .warnings }
        description = DeviceDescription(
            identity: DeviceIdentity(model: App.name), capabilities: Capabilities(abilities),
            overlaps: App.overlaps)
    }

    func nextEvents() async throws(DeviceError) -> [DeviceEvent]? { try await inbox.next() }

    func settle(_ receipts: [SettledReceipt]) async throws(DeviceError) { batches.settle(receipts) }

    // MARK: - Documents

    /// Takes documents until the link ends, and then says how many of their records were no samples.
    func serve(_ link: any DocumentLink) async throws {
        do {
            guard let input else { return try await serve(link) { true } }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await self.follow(input) }
                defer { group.cancelAll() }
                try await serve(link) { !input.isReading }
            }
        } catch {
            let count = dropped.withLock { $0 }
            if count > 0 {
                let skipped = SkippedValues(reason: "no_sample", what: "records of documents", count: count)
                await inbox.send([.skipped(skipped)])
            }
            throw error
        }
    }

    /// Takes documents until the link ends, and may do so.
    private func serve(_ link: any DocumentLink, untilEndIf mayEnd: () -> Bool) async throws {
        while true {
            do throws(LinkError) { await ingest(try await link.next()) } catch {
                if error.code == .ended, !mayEnd() { continue }
                throw error
            }
        }
    }

    private func ingest(_ document: Document) async {
        for values in document.takeDropped() { await inbox.send([.skipped(values)]) }
        var report = DocumentReport()
        do throws(DocumentProblem) {
            var records = try App.records(
                of: document.bytes, calendar: context.calendar, source: source, order: order)
            if records.isTest {
                context.logger.info("A test of the app has arrived. Its values are invented, and none is taken.")
                report.skip("the values of a test, which are invented")
                return document.answer(.stored(report))
            }
            defer { reportSources(records.sources) }
            while let portion = try nextPortion(of: &records, &report) {
                do {
                    try await store(portion, &report)
                } catch {
                    return document.answer(
                        .interrupted("The gateway has closed the phone's session; send it again later."))
                }
            }
        } catch {
            return document.answer(.unreadable(error.message))
        }
        context.logger.info("A document was taken.", metadata: report.metadata)
        if let reasons = emptyDocuments.reasons(report, at: context.clock.uptime) {
            context.logger.warning(
                "A document gives nothing; correct the settings of the app, or the device's options.",
                metadata: ["reasons": "\(reasons)"])
        }
        document.answer(.stored(report))
    }

    /// Reports once in a session that several sources count the same, such as steps.
    func reportSources(_ sources: CountSources) {
        guard source == nil, metrics.contains(where: { $0.shape == .count }), sources.names.count > 1 else { return }
        let isFirst = hasReported.withLock { hasReported in
            defer { hasReported = true }
            return !hasReported
        }
        guard isFirst else { return }
        context.logger.notice(
            "Several sources count the same. Of each interval the first of them counts; the driver's options may give their order.",
            metadata: ["option": "sources", "sources": "\(sources.inOrder.joined(separator: ", "))"])
    }

    /// The next records of a document, and in `report` what is skipped and refused of them; `nil` at its end.
    func nextPortion(
        of records: inout any RecordStream, _ report: inout DocumentReport
    ) throws(DocumentProblem) -> Portion? {
        var portion = Portion()
        let now = context.clock.now
        while portion.hasRoom, let record = try records.next() {
            switch record {
            case .sample(let sample) where sample.start < now && now < sample.end:
                report.skip(EmptyDocuments.laterInterval)
                portion.note(.skipped, EmptyDocuments.laterInterval, at: records.path)
            case .sample(let sample) where metrics.contains(sample.metric):
                portion.add(sample, at: records.path, now: now)
            case .nothing(let sample, let reason) where metrics.contains(sample.metric) && sample.end <= now:
                portion.add(correction: sample, reason: reason, at: records.path, now: now)
            case .nothing(_, let reason):
                guard let reason else { continue }
                drop(reason, &report)
                portion.note(.skipped, reason, at: records.path)
            case .sample(let sample): skip(sample.metric, &portion, &report, at: records.path)
            case .alert(let alert) where !metrics.contains(alert.rule.metric):
                skip(alert.rule.metric, &portion, &report, at: records.path)
            case .alert(let alert) where alert.rule.warning != nil: portion.add(warning: alert, at: records.path)
            case .alert(let alert) where sentAlerts.isNew(alert): portion.add(alert: alert, at: records.path)
            case .alert:
                report.count(.known)
                portion.note(.known, at: records.path)
            case .battery(let percent, let isCharging):
                portion.battery = .battery(percent: percent, isCharging: isCharging)
            case .refused(let member, let reason):
                report.count(.refused(DeviceError(.invalid, member.isEmpty ? reason : "\(member): \(reason)")))
                portion.note(.refused, reason, at: records.path, member)
                dropped.withLock { $0 += 1 }
            case .skipped(let reason):
                drop(reason, &report)
                portion.note(.skipped, reason, at: records.path)
            }
        }
        return portion.isEmpty ? nil : portion
    }

    /// Counts a record that is no sample.
    private func drop(_ reason: String, _ report: inout DocumentReport) {
        report.skip(reason)
        dropped.withLock { $0 += 1 }
    }

    private func skip(_ metric: Metric, _ portion: inout Portion, _ report: inout DocumentReport, at path: String?) {
        let reason = "\(metric.rawValue) is not among the options' metrics"
        report.skip(reason)
        portion.note(.skipped, reason, at: path)
    }

    /// Returns when all of these records are settled, with what became of them in `report`.
    func store(_ portion: Portion, _ report: inout DocumentReport) async throws(CancellationError) {
        if let battery = portion.battery { await inbox.send([battery]) }
        let alerts = try await batches.send(alerts: portion.alerts, to: inbox)
        sentAlerts.remember(portion.alerts, alerts)
        let samples = try await batches.send(portion.samples, to: inbox)
        let warnings = try await batches.send(warnings: portion.warnings, to: inbox)
        for (place, outcome) in samples.enumerated() {
            guard let reason = portion.skipping(place, outcome) else {
                report.count(outcome)
                continue
            }
            if !reason.isEmpty { drop(reason, &report) }
        }
        for outcome in warnings + alerts { report.count(outcome) }
        for entry in portion.entries(samples, warnings, alerts) { report.list(entry) }
    }
}

/// What the log has of a device's documents of which nothing was taken, over all of its sessions.
final class EmptyDocuments: Sendable {
    /// Why a record is skipped that is no mistake.
    static let laterInterval = "an interval that has not ended; it comes again"

    private let notice = Mutex(RepeatedNotice())

    /// Why nothing of a document was taken, if that is a mistake, and to be said now.
    func reasons(_ report: DocumentReport, at uptime: Duration) -> String? {
        let taken = report.new + report.corrected + report.known + report.superseded
        let reasons = (Array(report.refused.keys) + report.skipped.keys)
            .filter { $0 != Self.laterInterval && !$0.hasPrefix(Record.onPurpose) }.sorted()
        guard taken == 0, !reasons.isEmpty else { return nil }
        let text = reasons.joined(separator: "; ")
        return notice.withLock { $0.isDue(text, at: uptime) } ? text : nil
    }
}

/// The limits of reading documents.
enum PhoneLimits {
    /// The most samples and warnings that wait for the store at once.
    static let batch = 1_000
    /// The most different metrics or kinds of records in a document: ten times as many as the apps have.
    static let sections = 2_000
    /// The most bytes of a name that an answer repeats.
    static let name = 60
    /// The most bytes of a text in a script's document, as written: a name of 80 characters, each of them escaped.
    static let text = 1_000
}
