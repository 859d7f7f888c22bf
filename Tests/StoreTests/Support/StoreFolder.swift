import Concurrency
import Foundation
import Store
import Synchronization
import Vitals

/// A folder for one test, and the stores opened in it.
struct StoreFolder: ~Copyable, Sendable {
    let url: URL
    let committed = Committed()
    static let now = Timestamp(seconds: 1_795_000_000)  // 2026-11-18

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "store-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    var path: String { url.appending(path: "vitals.sqlite").path }

    func open(
        _ options: StoreOptions = StoreOptions(), identity: UInt64 = 1, executor: (any SerialExecutor)? = nil
    ) throws -> SQLiteStore {
        let committed = committed
        return try SQLiteStore(
            path: path, options: options, executor: executor ?? QueueExecutor(label: "writer"), now: Self.now,
            newIdentity: SampleID(high: identity, low: 0)
        ) { committed.add($0) }
    }

    func open(_ change: (inout StoreOptions) -> Void) throws -> SQLiteStore {
        var options = StoreOptions()
        change(&options)
        return try open(options)
    }

    /// A folder with a closed store that has these samples.
    static func holding(_ samples: [Sample]) async throws -> StoreFolder {
        let folder = try StoreFolder()
        let store = try folder.open()
        _ = try await store.ingest(Ingest(.band, samples))
        try await store.close()
        return folder
    }

    /// A copy of the folder's files as they are on disk now, as after a crash.
    func crashed() throws -> StoreFolder {
        let other = try StoreFolder()
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: other.path + suffix)
        }
        return other
    }
}

extension SQLiteStore {
    /// An open store in a folder of its own, which is there as long as the store.
    static func scratch(_ change: (inout StoreOptions) -> Void = { _ in }) throws -> SQLiteStore {
        var options = StoreOptions()
        change(&options)
        let place = ScratchPlace(folder: try StoreFolder())
        return try SQLiteStore(
            path: place.folder.path, options: options, executor: QueueExecutor(label: "writer"), now: StoreFolder.now,
            newIdentity: SampleID(high: 1, low: 0)
        ) { place.folder.committed.add($0) }
    }

    private final class ScratchPlace: Sendable {
        let folder: StoreFolder
        init(folder: consuming StoreFolder) { self.folder = folder }
    }
}

/// The entries of all commits, in order.
final class Committed: Sendable {
    private let state = Mutex<[OutboxEntry]>([])
    func add(_ new: [OutboxEntry]) { state.withLock { $0 += new } }
    var entries: [OutboxEntry] { state.withLock { $0 } }
    /// The facts among them.
    var all: [Fact] { entries.compactMap(\.fact) }
}

/// Counts events in closures that run elsewhere.
final class Counter: Sendable {
    private let count = Mutex(0)
    func add() { count.withLock { $0 += 1 } }
    var value: Int { count.withLock { $0 } }
}
