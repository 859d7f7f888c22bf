import Foundation
import Vitals

/// A note beside the store: it replaces another one, and the gap that announces this is not stored yet. Without the note, a
/// crash right after the replacement would hide the loss.
///
/// It is written before anything is moved, so that an opening knows which step a crash interrupted.
struct ResetNote {
    enum Reason: String { case damaged, restored }

    /// What a note says.
    struct Content: Hashable {
        var reason: Reason
        /// Where the replaced store goes, an absolute path; `nil` if there was none.
        var moved: String?
        /// The identity of the store in its place; `nil` in the note of an earlier version.
        var identity: String?
        /// Whether all files of the replaced store are out of its place. The files there are those of the new store, which must get
        /// none of them back.
        var isMoved = false
    }
    /// The last line of a note with `isMoved`.
    private static let moved = "moved"

    private let store: String
    private var path: String { store + ".reset" }

    /// The note of the store at this path.
    init(of store: String) { self.store = store }

    /// `nil` without a note, or if it cannot be read.
    var content: Content? {
        guard let text = DiskFile.read(path).flatMap({ String(validating: $0, as: UTF8.self) }) else { return nil }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard lines.count > 1, let reason = Reason(rawValue: lines[0]) else { return nil }
        let identity = lines.count > 2 && !lines[2].isEmpty ? lines[2] : nil
        return Content(
            reason: reason, moved: lines[1].isEmpty ? nil : besideStore(lines[1]), identity: identity,
            isMoved: lines.count > 3 && lines[3] == Self.moved)
    }

    /// How the open store began, by the note; `nil` if no store was replaced. The note counts even if the replaced store has
    /// been deleted since.
    /// - Parameter wasMissing: whether there was no store at its place before it was opened.
    func opening(of identity: SampleID, wasMissing: Bool) -> StoreOpening? {
        guard var content else { return nil }
        let isMoved = content.moved.map { FileManager.default.fileExists(atPath: $0) } ?? false
        guard wasMissing || isMoved || content.identity == identity.description else {
            // The crash came before anything was moved, and `StorePlace.endMove` has undone the rest.
            remove()
            return nil
        }
        if content.identity != identity.description || !content.isMoved {
            // A new store was begun after the crash, or a crash came before the note said that all was moved. The next start
            // must know it, also if the replaced one is gone.
            content.identity = identity.description
            content.isMoved = true
            try? write(content)
        }
        switch content.reason {
        case .damaged: return .replacedCorrupt(path: content.moved ?? "")
        case .restored: return .restored(path: content.moved)
        }
    }

    func write(_ content: Content) throws(StoreError) {
        let moved = content.moved.map { absolute($0) } ?? ""
        let lines = [content.reason.rawValue, moved, content.identity ?? "", content.isMoved ? Self.moved : ""]
        // A crash leaves the note as it was, or the new one.
        let making = path + ".new"
        unlink(making)
        DiskFile.create(making, for: StoreOwner(of: store))
        do {
            try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: making))
            try DiskFile.rename(absolute(making), to: absolute(path))
        } catch {
            throw StoreError(.unavailable, "\(path) cannot be written: \(error.localizedDescription)")
        }
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }

    /// The next start may have another working directory.
    private func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }

    /// An earlier version wrote relative paths; the file is in the store's folder in any case.
    private func besideStore(_ path: String) -> String {
        guard !path.hasPrefix("/") else { return path }
        let folder = URL(filePath: absolute(store)).deletingLastPathComponent()
        return folder.appending(path: URL(filePath: path).lastPathComponent).path
    }
}
