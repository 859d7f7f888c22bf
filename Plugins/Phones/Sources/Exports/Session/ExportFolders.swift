import Concurrency
package import GatewayKit
import Logging
import Synchronization
import Vitals

/// Watches the folders of all devices of a plugin, so that a new export is read as soon as it is whole.
package final class ExportFolders<Format: ExportSection>: PluginService {
    package static var sample: String {
        """
          # How often folders are checked that report no change, such as network shares. It needs no entry.
          \(Format.section): {poll_interval: 1m}

        """
    }

    package static var shared: String { "the watch of folders" }

    /// How often a folder is checked: network shares report no change.
    package static var defaultInterval: Duration { .minutes(1) }
    /// Values of `poll_interval`: a check costs little, and a new export waits for it.
    static var intervals: ClosedRange<Duration> { .seconds(10) ... .hours(1) }

    let interval: Duration
    private let watch = Mutex<FolderWatch?>(nil)

    /// Reads `poll_interval`.
    package init(options: inout ConfigurationReader) {
        interval = options.duration(
            "poll_interval", in: Self.intervals, default: Self.defaultInterval,
            about: "How often folders are checked that announce no change, such as network shares.")
    }

    /// A service with this interval, for tests.
    package init(interval: Duration = ExportFolders.defaultInterval) { self.interval = interval }

    /// Watches until `body` returns. Where the system allows no more watches, folders are only checked.
    package func withService(
        context: ServiceContext, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        do throws(ExportError) { set(try FolderWatch()) } catch {
            context.logger.warning(
                "New exports are found by regular checks only.",
                metadata: ["error": "\(error.message)", "interval": "\(interval.configurationText)"])
        }
        defer { set(nil) }
        try await body()
    }

    /// Its lock must not be inlined where a wait lies between two of them: Decision 165.
    @inline(never)
    private func set(_ opened: FolderWatch?) { watch.withLock { $0 = opened } }

    /// Runs `body` with the news of a folder: a wait for the next change since the last wait, or for the interval.
    func follow(
        _ folder: String, clock: GatewayClock,
        _ body: (_ nextChange: @Sendable () async throws -> Void) async throws -> Void
    ) async throws {
        let signal = Signal()
        let followed = FollowedFolder(folder, on: watch.withLock { $0 }, signal)
        defer { followed.end() }
        // What changed before counts, too.
        signal.wake()
        try await body { [interval] in
            await clock.withTimeout(interval) { await signal.wait() }
            try Task.checkCancellation()
            followed.renew()
        }
    }
}

/// A folder that is watched while it is followed.
///
/// Its locks must not be inlined in a function that waits between them: Decision 165.
final class FollowedFolder: Sendable {
    private let folder: String
    private let watch: FolderWatch?
    private let signal: Signal
    private let registration: Mutex<FolderWatch.Registration?>

    /// Watches the folder from now on. Without a watch nothing happens.
    init(_ folder: String, on watch: FolderWatch?, _ signal: Signal) {
        (self.folder, self.watch, self.signal) = (folder, watch, signal)
        registration = Mutex(watch?.register(signal, in: folder))
    }

    /// Watches the folder anew, if it was replaced, or was not there.
    @inline(never)
    func renew() {
        guard let renewed = watch?.register(signal, in: folder) else { return }
        let old = registration.withLock { registration in
            defer { registration = renewed }
            return registration
        }
        if let old, old != renewed { watch?.end(old) }
    }

    /// Ends the watch of the folder.
    @inline(never)
    func end() {
        if let registration = registration.withLock({ $0 }) { watch?.end(registration) }
    }
}
