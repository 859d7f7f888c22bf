import GatewayKit
import Vitals

/// The first refusal of each file that a ring lists but does not open. Notes of the device keep it, since a session may be short.
///
/// A refusal may be temporary, as while the ring records, so the file is requested again. A permanent one must not hold back the later
/// files for ever.
actor RefusedFiles {
    /// How long a refused file is requested again: longer than a night's recording. After that it is counted and skipped.
    static let timeout: Duration = .hours(24)

    private static let prefix = "refused."
    /// The part of a name that distinguishes files: its digits from the year to the second.
    private static let nameLength = 14

    private let notes: DeviceNotes
    private let clock: GatewayClock
    /// `nil` until it was read.
    private var since: [String: Timestamp]?

    init(_ notes: DeviceNotes, clock: GatewayClock) { (self.notes, self.clock) = (notes, clock) }

    /// The ring has refused a file. Returns whether it has done so for too long.
    func add(_ name: String) async -> Bool {
        let (key, now) = (Self.key(name), clock.now)
        // A time that is still to come is one of a clock that was wrong.
        if let first = await load()[key], first <= now { return now - first >= Self.timeout }
        await save([key: now])
        return false
    }

    /// The ring has opened a file.
    func remove(_ name: String) async {
        let key = Self.key(name)
        if await load()[key] != nil { await save([key: nil]) }
    }

    /// Forgets all but these files: the ring has no others.
    func removeAll(except names: [String]) async {
        let keys = Set(names.map(Self.key))
        var changes: [String: Timestamp?] = [:]
        for key in await load().keys where !keys.contains(key) { changes[key] = .some(nil) }
        await save(changes)
    }

    private static func key(_ name: String) -> String { prefix + name.prefix(nameLength) }

    private func load() async -> [String: Timestamp] {
        if let since { return since }
        let kept = ((try? await notes.all()) ?? [:]).filter { $0.key.hasPrefix(Self.prefix) }
        let times = kept.compactMapValues { Int64(String(decoding: $0, as: UTF8.self)) }
            .mapValues { Timestamp(milliseconds: $0) }
        since = times
        return times
    }

    /// A store that does not take it costs only another day.
    private func save(_ changes: [String: Timestamp?]) async {
        for (key, time) in changes { since?[key] = time }
        try? await notes.save(changes.mapValues { $0.map { Array("\($0.milliseconds)".utf8) } })
    }
}
