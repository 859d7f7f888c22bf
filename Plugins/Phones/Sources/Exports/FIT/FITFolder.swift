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
    private var notes: FITNotes?
    private var current: FITFile?

    /// After so long a file is tried again that the machine did not let read, such as by its permissions.
    private static let pause: Duration = .hours(1)

    init(_ options: FITOptions, executor: any SerialExecutor) {
        (self.options, self.executor) = (options, executor)
    }

    /// The files that were not read and stand still, the earliest first.
    func check(at uptime: Duration) throws(ExportError) -> ExportCheck<[FileStamp]> {
        let present = try options.place.files()
        checked.formIntersection(present)
        let fresh = present.filter { !checked.contains($0) }
        moving = Dictionary(uniqueKeysWithValues: fresh.map { ($0, moving[$0] ?? uptime) })
        let still = fresh.filter { uptime - (moving[$0] ?? uptime) >= ExportWatch.stillness }
        if !still.isEmpty { return .found(FITFile.inOrder(still)) }
        guard let first = moving.values.min() else { return .nothing }
        return .retryAfter(min(first + ExportWatch.stillness - uptime, .minutes(1)))
    }

    /// Opens a file that stands still. Returns whether it is a new one.
    func open(_ stamp: FileStamp, _ context: SessionContext) async throws -> Bool {
        if notes == nil { notes = try await FITNotes(context.notes) }
        guard let notes else { return false }
        do throws(ExportError) {
            let file = try FITFile(
                stamp, FITSamples(notes.counts, order: options.order, calendar: context.calendar))
            guard !notes.contains(file.digest) else {
                checked.insert(stamp)
                return false
            }
            current = file
            return true
        } catch {
            refuse(stamp, error, at: context.clock.uptime)
            throw error
        }
    }

    /// What the machine prevents may succeed later with the same file; everything else needs another one.
    private func refuse(_ stamp: FileStamp, _ error: ExportError, at uptime: Duration) {
        current = nil
        if error.code != .unavailable {
            checked.insert(stamp)
        } else if !Task.isCancelled {
            moving[stamp] = uptime + Self.pause
        }
    }

    /// The next samples of the file that was opened; `nil` at its end.
    func portion(_ count: Int, _ context: SessionContext) throws(ExportError) -> [Sample]? {
        guard let file = current else { return nil }
        do throws(ExportError) { return try file.portion(count) } catch {
            refuse(file.stamp, error, at: context.clock.uptime)
            throw error
        }
    }

    /// Remembers that the file is durable in the gateway, and returns what of it gives no sample.
    func markDone() -> [String: [SkippedRows.Reason: Int]] {
        guard let file = current else { return [:] }
        current = nil
        checked.insert(file.stamp)
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
                guard isExport(name), lower.hasSuffix(".fit") || lower.hasSuffix(".fit.gz") else { continue }
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
