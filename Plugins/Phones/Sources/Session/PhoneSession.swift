import Concurrency
import GatewayKit
import Logging
import Synchronization
import Vitals

/// A session with a phone: its documents become samples, and each gets its answer when all of its samples are settled.
final class PhoneSession<App: PhoneApp>: DeviceSession {
    let description: DeviceDescription
    private let metrics: Set<Metric>
    private let source: String?
    private let order: SourceOrder
    /// Whether this session has reported that several sources count.
    private let hasReported = Mutex(false)
    /// The records of this session that are no samples.
    private let dropped = Mutex(0)
    private let emptyDocuments: EmptyDocuments
    private let context: SessionContext
    private let inbox = EventInbox()
    private let batches = SettledBatches()
    private let isOver = Promise<Void>()

    init(_ options: PhoneOptions, _ emptyDocuments: EmptyDocuments, _ context: SessionContext) {
        self.context = context
        self.emptyDocuments = emptyDocuments
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

    /// Ends the session.
    func close(_ error: (any Error)?) {
        isOver.fulfil(())
        switch error {
        case nil: inbox.finish()
        case let link as LinkError where link.code == .ended: inbox.finish()
        default: inbox.finish(DeviceError(.disconnected, "The phone's session is over: \(error.map { "\($0)" } ?? "")"))
        }
    }

    func ping() async throws(DeviceError) {
        if isOver.value != nil { throw DeviceError(.disconnected, "The phone's session is over.") }
    }

    // MARK: - Documents

    /// Takes documents until the link ends, and then says how many of their records were no samples.
    func serve(_ link: any DocumentLink) async throws {
        do {
            while true { try await ingest(try await link.next()) }
        } catch {
            let count = dropped.withLock { $0 }
            if count > 0 {
                let skipped = SkippedValues(reason: "no_sample", what: "records of documents", count: count)
                await inbox.send([.skipped(skipped)])
            }
            throw error
        }
    }

    private func ingest(_ document: Document) async throws {
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
            while let batch = try nextBatch(of: &records, &report) {
                do {
                    for outcome in try await batches.send(batch.samples, to: inbox) { report.count(outcome) }
                    for outcome in try await batches.send(warnings: batch.warnings, to: inbox) { report.count(outcome) }
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

    /// Reports once in a session that several sources count the same steps.
    private func reportSources(_ sources: CountSources) {
        guard source == nil, metrics.contains(.steps), sources.names.count > 1 else { return }
        let isFirst = hasReported.withLock { hasReported in
            defer { hasReported = true }
            return !hasReported
        }
        guard isFirst else { return }
        context.logger.notice(
            "Several sources count steps. Of each interval one of them counts; the driver's options may give their order.",
            metadata: ["option": "sources", "sources": "\(sources.names.joined(separator: ", "))"])
    }

    private static func isUnwanted(_ metric: Metric) -> String {
        "\(metric.rawValue) is not among the options' metrics"
    }

    /// The next samples and warnings of a document, and in `report` what is skipped before them; `nil` at its end.
    private func nextBatch(
        of records: inout any RecordStream, _ report: inout DocumentReport
    ) throws(DocumentProblem) -> (samples: [Sample], warnings: [DeviceAlert])? {
        var samples: [Sample] = []
        var warnings: [DeviceAlert] = []
        let now = context.clock.now
        while samples.count + warnings.count < PhoneLimits.batch, let record = try records.next() {
            switch record {
            case .sample(let sample) where sample.start < now && now < sample.end:
                report.skip(EmptyDocuments.laterInterval)
            case .sample(let sample) where metrics.contains(sample.metric): samples.append(sample)
            case .warning(let warning) where metrics.contains(warning.rule.metric): warnings.append(warning)
            case .sample(let sample): report.skip(Self.isUnwanted(sample.metric))
            case .warning(let warning): report.skip(Self.isUnwanted(warning.rule.metric))
            case .skipped(let reason):
                report.skip(reason)
                dropped.withLock { $0 += 1 }
            }
        }
        return samples.isEmpty && warnings.isEmpty ? nil : (samples, warnings)
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
}
