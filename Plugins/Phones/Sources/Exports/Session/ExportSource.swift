import Concurrency
import GatewayKit
import Logging
import Vitals

/// The export that is in use: the newest one that was whole. It stays while a newer file is torn or gone.
actor ExportSource {
    nonisolated private let executor: any SerialExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let opener: ExportOpener
    private nonisolated let place: ExportPlace
    /// The folder in which exports appear, with its present files.
    nonisolated var folder: String { place.folder }
    private var current: OpenExport?
    /// The content that is durable in the gateway; `nil` before the notes were read.
    private var delivered: DeliveredContent?
    /// The rows without a sample that were reported, of the export before.
    private var reported: [String: [SkippedRows.Reason: Int]] = [:]
    /// Exports without a record of the device.
    private var emptiness = RepeatedNotice()
    /// The name of the driver, with which the notes begin to say what they are of.
    private let driver: String

    /// How long the first export may change before a session gives up waiting for it.
    static let timeout: Duration = .minutes(1)
    /// How far back the records of the first export of all, and those of a new metric, are offered besides the synchronisation:
    /// those that came late.
    static let lateness: Duration = .days(14)

    init(_ format: any ExportFormat, reading: any SerialExecutor, opening: any SerialExecutor) {
        executor = reading
        place = format.place
        driver = type(of: format).driver
        opener = ExportOpener(format, executor: opening)
    }

    /// Waits for an export, if none is in use yet, and describes its device.
    /// - Throws: `ExportError` with the remedy.
    func prepare(_ context: SessionContext) async throws -> DeviceDescription {
        let until = context.clock.uptime + Self.timeout
        while current == nil {
            if case .retryAfter(let pause) = try await check(context) {
                guard context.clock.uptime + pause <= until else {
                    throw ExportError(.torn, "The export is still being written.")
                }
                try await context.clock.sleep(for: pause)
            } else if current == nil {
                // The file was checked before, and cannot be used: it is not copied again.
                throw await opener.rejection ?? ExportError(.missing, "There is no export.")
            }
        }
        guard let current else { throw ExportError(.missing, "There is no export.") }
        // The newest export is the app's last word, also where a night became shorter.
        return DeviceDescription(
            identity: current.identity, capabilities: current.capabilities, overlaps: .lastReported)
    }

    /// Checks once for a newer export, and takes it into use.
    func check(_ context: SessionContext) async throws(ExportError) -> ExportCheck<Void> {
        switch try await opener.check(context) {
        case .nothing: return .nothing
        case .retryAfter(let pause): return .retryAfter(pause)
        case .found(let export):
            current = export
            report(export, context)
            return .found(())
        }
    }

    /// Says for `doctor` what the present export has of the device. It need not stand still, and is not taken into use.
    func examine(from: Timestamp?, _ context: SessionContext) async -> [Finding] {
        await opener.examine(from: from, context)
    }

    /// The metrics of the export in use.
    var capabilities: Capabilities { current?.capabilities ?? Capabilities() }

    /// The battery by the export in use.
    var battery: ExportedDevice.Charge? { current?.battery }

    /// The rows of the export in use that lose a value of the person, as far as the one before had fewer.
    func takeSkipped() -> [SkippedValues] {
        guard let current else { return [] }
        defer { reported = current.skippedRows }
        var found: [SkippedValues] = []
        for (table, reasons) in current.skippedRows.sorted(by: { $0.key < $1.key }) {
            for (reason, count) in reasons.sorted(by: { $0.key.rawValue < $1.key.rawValue }) where reason.losesValue {
                let more = count - (reported[table]?[reason] ?? 0)
                guard more > 0 else { continue }
                found.append(
                    SkippedValues(
                        reason: reason.rawValue, what: table, count: more,
                        limit: reason == .tooMany ? current.limits[table] : nil))
            }
        }
        return found
    }

    /// A page of the export in use.
    func page(
        _ request: HistoryRequest, calendar: LocalCalendar, now: Timestamp, takesBack: Bool
    ) throws(ExportError) -> HistoryPage {
        guard let current else { return HistoryPage(samples: []) }
        return try current.page(request, calendar: calendar, now: now, takesBack: takesBack)
    }

    /// What the gateway may not know yet of the export in use, and the content that it knows afterwards.
    /// - Throws: what the gateway's store says.
    func undelivered(
        _ context: SessionContext
    ) async throws(DeviceError) -> (changes: [Digests.Change], then: Digests) {
        guard let current else { return ([], Digests()) }
        let known = try await content(context).digests
        let latest = context.clock.now - Self.lateness
        return (current.digests.changes(since: known, latest: latest), current.digests)
    }

    /// Notes that the gateway has this content durably, and says what became of it. If the note cannot be kept, the driver sends the
    /// same content again after a restart.
    func deliver(_ digests: Digests, _ report: DocumentReport, _ context: SessionContext) async {
        do throws(DeviceError) {
            var content = try await content(context)
            content.become(digests)
            delivered = content
            try await content.save(in: context.notes, of: origin(context))
            delivered = content
            var report = report
            for reasons in (current?.skippedRows ?? [:]).values {
                for (reason, count) in reasons { report.skip(reason.rawValue, count: count) }
            }
            // What a synchronisation reads has its own line.
            context.logger.info("The export is stored.", metadata: report.metadata)
        } catch {
            context.logger.warning("What was delivered cannot be noted.", metadata: ["error": "\(error.message)"])
        }
    }

    private func content(_ context: SessionContext) async throws(DeviceError) -> DeliveredContent {
        if let delivered { return delivered }
        let read = try await DeliveredContent(context.notes, of: origin(context))
        delivered = read
        return read
    }

    /// What the notes are of: an app's records of a device, by the local days of a zone.
    private func origin(_ context: SessionContext) -> String {
        let options = current?.device.options.map { "\($0.key)=\($0.value)" } ?? []
        return ([driver, context.calendar.identifier] + options).joined(separator: "\n")
    }

    private func report(_ export: OpenExport, _ context: SessionContext) {
        let logger = context.logger
        if export.extents.isEmpty, emptiness.isDue(at: context.clock.uptime) {
            logger.warning("\(OpenExport.emptiness(of: place.path))")
        }
        logger.info("A new export was read.", metadata: ["schema": "\(export.database.version)"])
        for note in export.device.notes { logger.info("A note on the export.", metadata: ["note": "\(note)"]) }
        for (table, reasons) in export.skippedRows.sorted(by: { $0.key < $1.key }) {
            for (reason, count) in reasons.sorted(by: { $0.key.rawValue < $1.key.rawValue }) where !reason.losesValue {
                // The gateway logs the others.
                logger.debug(
                    "Rows of the export are skipped.",
                    metadata: ["table": "\(table)", "reason": "\(reason.rawValue)", "count": "\(count)"])
            }
        }
        if !export.device.unknownTables.isEmpty {
            logger.debug(
                "Tables of the export are skipped.",
                metadata: ["tables": "\(export.device.unknownTables.joined(separator: ", "))"])
        }
    }
}
