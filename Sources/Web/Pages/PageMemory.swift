import Concurrency
import GatewayKit
import Listening
import Synchronization
import Vitals

/// What the pages remember beside the gateway, also when the configuration changes.
package final class PageMemory: Sendable {
    /// The most passwords that are checked or wait for it. Each takes a tenth of a second.
    static let maximumChecks = 8
    /// The most event streams: a family with all of its browsers, and many tabs in each.
    static let maximumStreams = 256

    let sessions = PageSessions()
    let logins = LoginRateLimiter()
    let sparklines = Sparklines()
    let wearers = WearerValues()
    let sleeps = RecentSleeps()
    let live = LivePages()
    /// What takes longer than a page: the doctor and scans.
    let launcher = TaskLauncher()
    /// Computes hashes of passwords.
    private let queue = BlockingQueue(label: "vitals2mqtt.password")

    private struct State {
        var doctor = GatewayBuilder.DoctorRun()
        var scan = FoundNearby()
        var checks = 0
        var streams = 0
        var changes = 0
    }
    private let state = Mutex(State())
    private let access = Mutex<AccessRule?>(nil)

    package init() {}

    /// From now on this says who may see the pages.
    func begin(_ access: AccessRule) { self.access.withLock { $0 = access } }

    /// Whether a rule is still in force: a stream ends when it is not.
    func isCurrent(_ access: AccessRule) -> Bool { self.access.withLock { $0 } == access }

    /// Runs what takes longer than a page, until `stop` is called or the task is cancelled.
    package func run() async { await launcher.run() }

    /// Makes `run` return when nothing runs any more.
    package func stop() { launcher.finish() }

    /// What the doctor has said, and whether it is asked.
    var doctor: GatewayBuilder.DoctorRun { state.withLock { $0.doctor } }

    /// What a scan has found, and whether one runs.
    var scan: FoundNearby { state.withLock { $0.scan } }

    /// How often doctor and scan have changed.
    var changes: Int { state.withLock { $0.changes } }

    /// Begins to ask the doctor; `false` if it is asked already.
    func beginDoctor() -> Bool {
        state.withLock { state in
            guard !state.doctor.isRunning else { return false }
            state.doctor.isRunning = true
            state.changes += 1
            return true
        }
    }

    func endDoctor(_ findings: [Finding], at moment: Timestamp) {
        state.withLock { state in
            state.doctor = GatewayBuilder.DoctorRun(asked: moment, isRunning: false, findings: findings)
            state.changes += 1
        }
    }

    /// Begins a scan; `false` if one runs.
    func beginScan() -> Bool {
        state.withLock { state in
            guard !state.scan.isScanning else { return false }
            state.scan.isScanning = true
            state.changes += 1
            return true
        }
    }

    func endScan(_ report: ScanReport?, problem: String?, at moment: Timestamp) {
        state.withLock { state in
            state.scan = FoundNearby(isScanning: false, scannedAt: moment, report: report, problem: problem)
            state.changes += 1
        }
    }

    /// Takes a place for an event stream; `false` if there is none.
    func beginStream() -> Bool {
        state.withLock { state in
            guard state.streams < Self.maximumStreams else { return false }
            state.streams += 1
            return true
        }
    }

    /// Frees a place. Without any stream nothing has to be remembered for one.
    func endStream() {
        let isLast = state.withLock { state in
            state.streams -= 1
            return state.streams == 0
        }
        if isLast { live.forget() }
    }

    /// Whether a password is the one of a hash; `nil` if too many are being checked.
    func check(_ password: String, against hash: PasswordHash) async -> Bool? {
        guard beginCheck() else { return nil }
        let isRight = (try? await queue.run { hash.matches(password) }) ?? false
        endCheck()
        return isRight
    }

    // Their locks must not be inlined where a wait lies between them: Decision 165.
    @inline(never)
    private func beginCheck() -> Bool {
        state.withLock { state in
            guard state.checks < Self.maximumChecks else { return false }
            state.checks += 1
            return true
        }
    }

    @inline(never)
    private func endCheck() { state.withLock { $0.checks -= 1 } }
}

/// What a scan has found.
struct FoundNearby: Sendable, Hashable {
    var isScanning = false
    var scannedAt: Timestamp?
    var report: ScanReport?
    var problem: String?
}
