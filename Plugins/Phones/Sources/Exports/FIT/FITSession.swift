import GatewayKit
import Logging
import Vitals

/// A session with a device by its FIT files: each new one becomes samples, and is done when all of them are durable.
final class FITSession: DeviceSession {
    let description: DeviceDescription
    private let folder: FITFolder
    private let context: SessionContext
    private let inbox = EventInbox()
    private let batches = SettledBatches()
    private let metrics: Set<Metric>

    /// Samples of one batch. The next one is read when they are durable.
    private static let batch = 500
    /// After so many files the notes are written; those behind would be read again after a kill, and change nothing.
    private static let filesPerNote = 32

    init(_ folder: FITFolder, metrics: [Metric], _ context: SessionContext) {
        (self.folder, self.context, self.metrics) = (folder, context, Set(metrics))
        description = DeviceDescription(
            identity: DeviceIdentity(model: "FIT files"),
            capabilities: Capabilities(Dictionary(uniqueKeysWithValues: self.metrics.map { ($0, Abilities()) })))
    }

    func nextEvents() async throws(DeviceError) -> [DeviceEvent]? { try await inbox.next() }

    func settle(_ receipts: [SettledReceipt]) async throws(DeviceError) { batches.settle(receipts) }

    /// Ends the session.
    func close(_ error: DeviceError? = nil) { inbox.finish(error) }

    /// Reads the files that are there and those that appear, until the task is cancelled.
    /// - Parameter nextChange: waits for the next change of the folder.
    func follow(_ nextChange: @Sendable () async throws -> Void) async throws {
        var problem: String?
        while true {
            var pause: Duration?
            var files: [FileStamp] = []
            do throws(ExportError) {
                switch try await folder.check(at: context.clock.uptime) {
                case .nothing: break
                case .retryAfter(let time): pause = time
                case .found(let found): files = found
                }
                problem = nil
            } catch {
                if error.message != problem {
                    context.logger.warning("FIT files cannot be read now.", metadata: ["error": "\(error.message)"])
                }
                problem = error.message
            }
            guard files.isEmpty else {
                try await read(files)
                continue
            }
            if let pause { try await context.clock.sleep(for: pause) } else { try await nextChange() }
        }
    }

    private func read(_ files: [FileStamp]) async throws {
        var report = DocumentReport()
        let (sources, unreadable) = await folder.sources(of: files, context)
        var refused = unreadable
        var skipped: [String: [SkippedRows.Reason: Int]] = [:]
        var progress = ReadingProgress(inbox, context.clock)
        for (place, file) in sources.enumerated() {
            await progress.report(Double(place) / Double(sources.count))
            do {
                guard try await folder.open(file, context) else { continue }
                while let samples = try await folder.portion(Self.batch, context) {
                    let wanted = samples.filter { metrics.contains($0.metric) }
                    for outcome in try await batches.send(wanted, to: inbox) { report.count(outcome) }
                }
                for (table, reasons) in await folder.markDone() {
                    skipped[table, default: [:]].merge(reasons, uniquingKeysWith: +)
                }
            } catch let error as ExportError {
                refused.append(error)
            }
            if place % Self.filesPerNote == Self.filesPerNote - 1 { try await folder.save(context) }
        }
        try await folder.save(context)
        await inbox.send([.progress(nil)])
        await say(refused, skipped)
        for (_, reasons) in skipped {
            for (reason, count) in reasons { report.skip(reason.rawValue, count: count) }
        }
        context.logger.info("FIT files were read.", metadata: report.metadata)
    }

    /// Says which files are refused, and what of the others gives no sample.
    private func say(_ refused: [ExportError], _ skipped: [String: [SkippedRows.Reason: Int]]) async {
        for error in refused.prefix(FITLimits.reported) {
            context.logger.warning("A FIT file is refused.", metadata: ["error": "\(error.message)"])
        }
        if refused.count > FITLimits.reported {
            context.logger.warning(
                "Further FIT files are refused; vitals2mqtt sources names them.",
                metadata: ["count": "\(refused.count - FITLimits.reported)"])
        }
        var events: [DeviceEvent] = []
        for (code, errors) in Dictionary(grouping: refused, by: \.code).sorted(by: { $0.key.rawValue < $1.key.rawValue }
        ) {
            events.append(.skipped(SkippedValues(reason: code.word, what: "FIT files", count: errors.count)))
        }
        for (table, reasons) in skipped.sorted(by: { $0.key < $1.key }) {
            for (reason, count) in reasons.sorted(by: { $0.key.rawValue < $1.key.rawValue }) where reason.losesValue {
                events.append(.skipped(SkippedValues(reason: reason.rawValue, what: table, count: count)))
            }
        }
        if !events.isEmpty { await inbox.send(events) }
    }
}

extension ExportError.Code {
    /// As a word for consumers.
    fileprivate var word: String { self == .tooLarge ? "too_large" : rawValue }
}
