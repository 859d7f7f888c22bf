import GatewayKit
import Logging
import Vitals

extension PhoneSession {
    /// Reads each export that appears, until the task is cancelled.
    func follow(_ input: ExportInput) async throws {
        while true {
            var pause = ExportInput.interval
            do {
                switch try input.check(at: context.clock.uptime) {
                case .nothing: break
                case .retryAfter(let time): pause = time
                case .found(let stamp):
                    input.setReading(true)
                    defer { input.setReading(false) }
                    try await read(stamp, input)
                    continue
                }
            } catch {
                try Task.checkCancellation()
                await inbox.send([.progress(nil)])
                if input.isDue("\(error)", at: context.clock.uptime) {
                    context.logger.warning("The export cannot be read.", metadata: ["error": "\(error)"])
                }
            }
            try await context.clock.sleep(for: pause)
        }
    }

    /// Reads an export from where it was taken before. Each portion is durable before the next one is read.
    private func read(_ stamp: FileStamp, _ input: ExportInput) async throws {
        let bytes = try ExportBytes(stamp)
        var isOver = false
        // What the session or the store has ended goes on later; what is wrong with the file stays so.
        defer { if !isOver { input.forget() } }
        var mark = ExportMark(bytes, metrics: metrics, source: source)
        mark.resume(from: try await context.notes.all()[ExportInput.note])
        isOver = mark.isDone
        guard !mark.isDone else { return context.logger.info("The export was taken before.") }
        let export = AppleExport(bytes, from: mark.position, source: source, order: order)
        context.logger.info(
            "An export is read.", metadata: ["file": "\(bytes.stamp.path)", "from": "\(mark.position)"])
        var report = DocumentReport()
        var next = ExportInput.progress
        var progress = ReadingProgress(inbox, context.clock)
        var stream: any RecordStream = export
        while !export.isAtEnd || export.hasPending {
            if let portion = try nextPortion(of: &stream, &report) { try await store(portion, &report) }
            await progress.report(export.share)
            if export.share >= next, !export.isAtEnd {
                next = export.share + ExportInput.progress
                context.logger.info(
                    "The export is being read.",
                    metadata: ["percent": "\(Int(export.share * 100))", "new": "\(report.new)"])
            }
            if export.position > mark.position {
                mark.position = export.position
                try await context.notes.save([ExportInput.note: mark.note])
            }
            await Task.yield()
        }
        isOver = true
        await inbox.send([.progress(nil)])
        if export.problem == nil {
            mark.isDone = true
            try await context.notes.save([ExportInput.note: mark.note])
        }
        reportSources(export.sources)
        await reportEnd(of: export, report)
    }

    /// Says what became of an export.
    private func reportEnd(of export: AppleExport, _ report: DocumentReport) async {
        var events = export.damage.map {
            DeviceEvent.skipped(SkippedValues(reason: $0.reason, what: $0.what, count: $0.count, limit: $0.limit))
        }
        let types = export.leftOut.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        let leftOut = types.reduce(0) { $0 + $1.value }
        if leftOut > 0 {
            events.append(.skipped(SkippedValues(reason: "no_metric", what: "records of the export", count: leftOut)))
        }
        await inbox.send(events)
        context.documents.reasons.log(report, to: context.logger)
        if !types.isEmpty {
            context.logger.notice(
                "Records of the export have no metric of the gateway.",
                metadata: ["types": "\(types.map { "\($0.key): \($0.value)" }.joined(separator: ", "))"])
        }
        if let problem = export.problem {
            context.logger.warning("The export could not be read to its end.", metadata: ["error": "\(problem)"])
        } else {
            context.logger.info("The export was taken.", metadata: report.metadata)
        }
    }
}
