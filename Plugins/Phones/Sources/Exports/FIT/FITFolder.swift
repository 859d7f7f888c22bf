import Concurrency
import Foundation
import GatewayKit
import Logging
import Vitals

/// The FIT files of a device: which are there, which were read, and what the one that is being read has.
actor FITFolder {
    nonisolated private let executor: any SerialExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private nonisolated let options: FITOptions
    /// The folder that is watched.
    nonisolated var folder: String { options.place.folder }
    /// Files that changed, each with the moment since which it stands still.
    private var moving: [FileStamp: Duration] = [:]
    /// Files as they were when they were read or refused.
    private var checked: Set<FileStamp> = []
    /// The same of the entries of archives that have others.
    private var checkedEntries: Set<FITSource> = []
    private var notes: FITNotes?
    private var current: FITFile?

    /// After so long a file is tried again that the machine did not let read, such as by its permissions.
    private static let pause: Duration = .hours(1)

    init(_ options: FITOptions, executor: any SerialExecutor) {
        (self.options, self.executor) = (options, executor)
    }

    /// The files that were not read and stand still.
    func check(at uptime: Duration) throws(ExportError) -> ExportCheck<[FileStamp]> {
        let present = try options.place.files()
        checked.formIntersection(present)
        checkedEntries = checkedEntries.filter { present.contains($0.stamp) }
        let fresh = present.filter { !checked.contains($0) }
        moving = Dictionary(uniqueKeysWithValues: fresh.map { ($0, moving[$0] ?? uptime) })
        let still = fresh.filter { uptime - (moving[$0] ?? uptime) >= ExportWatch.stillness }
        if !still.isEmpty { return .found(still) }
        guard let first = moving.values.min() else { return .nothing }
        return .retryAfter(min(first + ExportWatch.stillness - uptime, .minutes(1)))
    }

    /// The files, and those of archives, that were not read, the earliest first; and why archives cannot be read.
    func sources(of files: [FileStamp], _ context: SessionContext) -> (sources: [FITSource], refused: [ExportError]) {
        var (found, refused) = ([FITSource](), [ExportError]())
        for stamp in files {
            do throws(ExportError) {
                let sources = try FITSource.sources(of: stamp).filter { !checkedEntries.contains($0) }
                if sources.isEmpty { checked.insert(stamp) }
                found += sources
            } catch {
                refuse(FITSource(stamp: stamp), error, at: context.clock.uptime)
                refused.append(error)
            }
        }
        return (FITFile.inOrder(found), refused)
    }

    /// Notes that a file was read or refused as it is.
    private func markChecked(_ source: FITSource) {
        if source.entry == nil { checked.insert(source.stamp) } else { checkedEntries.insert(source) }
    }

    /// Opens a file that stands still. Returns whether it is a new one.
    func open(_ source: FITSource, _ context: SessionContext) async throws -> Bool {
        if notes == nil { notes = try await FITNotes(context.notes) }
        guard let notes else { return false }
        do throws(ExportError) {
            let file = try FITFile(
                source, FITSamples(notes.counts, order: options.order, calendar: context.calendar))
            guard !notes.contains(file.digest) else {
                markChecked(source)
                return false
            }
            current = file
            return true
        } catch {
            refuse(source, error, at: context.clock.uptime)
            throw error
        }
    }

    /// What the machine prevents may succeed later with the same file; everything else needs another one.
    private func refuse(_ source: FITSource, _ error: ExportError, at uptime: Duration) {
        current = nil
        if error.code != .unavailable {
            markChecked(source)
        } else if !Task.isCancelled {
            moving[source.stamp] = uptime + Self.pause
        }
    }

    /// The next samples of the file that was opened; `nil` at its end.
    func portion(_ count: Int, _ context: SessionContext) throws(ExportError) -> [Sample]? {
        guard let file = current else { return nil }
        do throws(ExportError) { return try file.portion(count) } catch {
            refuse(file.source, error, at: context.clock.uptime)
            throw error
        }
    }

    /// Remembers that the file is durable in the gateway, and returns what of it gives no sample.
    func markDone() -> [String: [SkippedRows.Reason: Int]] {
        guard let file = current else { return [:] }
        current = nil
        markChecked(file.source)
        notes?.add(file.digest, file.samples.counts)
        return file.samples.skipped.counts
    }

    /// Writes what was remembered.
    func save(_ context: SessionContext) async throws(DeviceError) {
        guard var changed = notes else { return }
        try await changed.save(in: context.notes)
        notes = changed
    }
}

extension ExportPlace {
    /// The file itself, or the FIT files of the folder and of those below it.
    /// - Throws: `missing`, `unavailable` or `tooLarge` with the remedy.
    func files(limit: Int = FITLimits.files) throws(ExportError) -> [FileStamp] {
        if let file = FileStamp(of: path) { return [file] }
        guard isFolder else { throw ExportError(.missing, absence) }
        var found: [FileStamp] = []
        try collect(path, FITLimits.depth, limit, &found)
        return found
    }

    private func collect(_ folder: String, _ depth: Int, _ limit: Int, _ found: inout [FileStamp]) throws(ExportError) {
        let names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: folder) } catch {
            throw ExportError(.unavailable, "The folder \(folder) cannot be read. Check its permissions.")
        }
        for name in names where !name.hasPrefix(".") {
            let place = "\(folder)/\(name)"
            if let stamp = FileStamp(of: place) {
                let lower = name.lowercased()
                guard isExport(name), lower.hasSuffix(".fit") || lower.hasSuffix(".fit.gz") || FITSource.isArchive(name)
                else { continue }
                guard found.count < limit else {
                    throw ExportError(
                        .tooLarge,
                        "\(path) has more than \(limit) FIT files. Move those of some years into a folder of their own."
                    )
                }
                found.append(stamp)
            } else if depth > 0, ExportPlace(path: place, names: [], extensions: []).isFolder {
                try collect(place, depth - 1, limit, &found)
            }
        }
    }
}
