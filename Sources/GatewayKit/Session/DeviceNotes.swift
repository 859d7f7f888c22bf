import Synchronization

/// Small named values that a driver keeps for its device across restarts of the gateway. Only the driver understands their bytes.
///
/// The gateway keeps them in its store, and forgets them together with the device. They are no place for samples or secrets. A
/// driver must work without them: after a damaged store they are empty.
public final class DeviceNotes: Sendable {
    /// Where notes are kept.
    package struct Storage: Sendable {
        package var load: @Sendable () async throws(DeviceError) -> [String: [UInt8]]
        package var save: @Sendable (_ changes: [String: [UInt8]?]) async throws(DeviceError) -> Void

        package init(
            load: @escaping @Sendable () async throws(DeviceError) -> [String: [UInt8]],
            save: @escaping @Sendable (_ changes: [String: [UInt8]?]) async throws(DeviceError) -> Void
        ) {
            self.load = load
            self.save = save
        }
    }

    /// The most notes of a device: together with their size at most 4 MB of the store.
    public static let maximumNotes = 1_000
    /// The most bytes of a note: about a page of the store, since a changed note is written as a whole.
    public static let maximumSize = 4_096
    /// The most bytes of a note's name.
    public static let maximumName = 64

    private struct State {
        var storage: Storage?
        /// The notes, as long as no store keeps them.
        var own: [String: [UInt8]] = [:]
        /// The names of all notes; `nil` until they were read.
        var names: Set<String>?
    }
    private let state = Mutex(State())

    /// Notes that are kept in memory only, until the gateway keeps them.
    public init() {}

    /// Keeps them from now on.
    package func attach(to storage: Storage) { state.withLock { $0 = State(storage: storage) } }

    /// All notes by name. A driver calls it and `save` one after the other.
    /// - Throws: `failure` if the store cannot be read.
    public func all() async throws(DeviceError) -> [String: [UInt8]] {
        guard let storage = state.withLock({ $0.storage }) else { return state.withLock { $0.own } }
        let notes = try await storage.load()
        state.withLock { $0.names = Set(notes.keys) }
        return notes
    }

    /// Changes notes, all or none: `nil` removes one. They are on disk when it returns.
    /// - Throws: `invalid` if a name or a note is too long or there are too many, `failure` if the store cannot be written.
    public func save(_ changes: [String: [UInt8]?]) async throws(DeviceError) {
        guard !changes.isEmpty else { return }
        for (name, bytes) in changes {
            guard !name.isEmpty, name.utf8.count <= Self.maximumName else {
                throw DeviceError(.invalid, "The name of a note must have 1 to \(Self.maximumName) bytes.")
            }
            guard (bytes?.count ?? 0) <= Self.maximumSize else {
                throw DeviceError(.invalid, "The note \(name) must have at most \(Self.maximumSize) bytes.")
            }
        }
        if state.withLock({ $0.storage != nil && $0.names == nil }) { _ = try await all() }
        let (storage, before) = state.withLock { ($0.storage, $0.names ?? Set($0.own.keys)) }
        let removed = changes.filter { $0.value == nil }.keys
        let after = before.union(changes.keys).subtracting(removed)
        guard after.count <= Self.maximumNotes else {
            throw DeviceError(.invalid, "A device may have at most \(Self.maximumNotes) notes.")
        }
        guard let storage else {
            return state.withLock { state in for (name, bytes) in changes { state.own[name] = bytes } }
        }
        try await storage.save(changes)
        state.withLock { $0.names = after }
    }
}
