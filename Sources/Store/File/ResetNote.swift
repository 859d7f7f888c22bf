import Foundation
import StoreAPI

/// A note beside the store: it replaces another one, and the gap that announces this is not stored yet. Without the note, a
/// crash right after the replacement would hide the loss.
struct ResetNote {
    private enum Reason: String { case damaged, restored }

    private let path: String

    /// The note of the store at this path.
    init(of store: String) { path = store + ".reset" }

    /// What the note says; `nil` without a note, or if the replacement has not happened.
    var opening: StoreOpening? {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
        let lines = text.split(separator: "\n", maxSplits: 1).map(String.init)
        guard lines.count == 2, let reason = Reason(rawValue: lines[0]) else { return nil }
        let aside = lines[1].trimmingCharacters(in: .newlines)
        guard FileManager.default.fileExists(atPath: aside) else { return nil }
        return reason == .damaged ? .replacedCorrupt(path: aside) : .restored(path: aside)
    }

    func writeDamaged(aside: String) throws(StoreError) { try write(.damaged, aside) }
    func writeRestored(aside: String) throws(StoreError) { try write(.restored, aside) }

    private func write(_ reason: Reason, _ aside: String) throws(StoreError) {
        DiskFile.create(path)
        do {
            try Data("\(reason.rawValue)\n\(aside)\n".utf8).write(to: URL(filePath: path))
            try DiskFile.synchronise(path)
        } catch {
            throw StoreError(.unavailable, "\(path) cannot be written: \(error.localizedDescription)")
        }
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
}
