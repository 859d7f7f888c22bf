import CSDBus
import Concurrency
import Foundation
import Glibc
import Synchronization

/// One thread that runs the jobs of actors and the connections to D-Bus that they open, which sd-bus allows on one thread only. It
/// sleeps in `poll` until a job, a message or a time limit is due, and lives as long as the process.
final class BusLoop: SerialExecutor {
    /// The most messages of a connection in a row before jobs have their turn again.
    static let messagesInARow = 64

    private let jobs = Mutex<[UnownedJob]>([])
    /// Who waits for the thread's next turn.
    private let turns = Mutex<[Promise<Void>]>([])
    private let wakeUp: Int32
    /// The thread, once it runs.
    private let thread = Atomic<UInt>(0)
    // Only the loop's own thread reads and writes it.
    private nonisolated(unsafe) var connections: [Bus] = []

    /// Starts a thread of this name, which debuggers show.
    init(label: String) {
        // It fails only when the process has no descriptors left; then `poll` leaves it out, and wakes once a second.
        wakeUp = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        let thread = Thread { [self] in run() }
        thread.name = label
        thread.start()
    }

    /// What sd-bus calls is isolated, too, although it is no job.
    func checkIsolated() { precondition(isIsolatingCurrentContext() == true, "This is not the thread of the bus.") }

    func isIsolatingCurrentContext() -> Bool? { thread.load(ordering: .acquiring) == UInt(pthread_self()) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isFirst = jobs.withLock { jobs in
            jobs.append(job)
            return jobs.count == 1
        }
        if isFirst { eventfd_write(wakeUp, 1) }
    }

    /// Returns when the thread has taken a turn, or the task is cancelled.
    func answer() async {
        let turn = Promise<Void>()
        turns.withLock { $0.append(turn) }
        eventfd_write(wakeUp, 1)
        try? await turn.wait()
    }

    /// Begins to serve a connection. Called on the loop's thread.
    func attach(_ bus: Bus) { connections.append(bus) }

    /// Ends to serve a connection. Called on the loop's thread.
    func detach(_ bus: Bus) { connections.removeAll { $0 === bus } }

    private func run() {
        thread.store(UInt(pthread_self()), ordering: .releasing)
        while true {
            let due = jobs.withLock { jobs in
                defer { jobs = [] }
                return jobs
            }
            for job in due { job.runSynchronously(on: asUnownedSerialExecutor()) }
            let waiting = turns.withLock { turns in
                defer { turns = [] }
                return turns
            }
            for turn in waiting { turn.fulfil(()) }
            var isBusy = !due.isEmpty
            for bus in connections where bus.process(atMost: Self.messagesInARow) { isBusy = true }
            if !isBusy { sleep() }
        }
    }

    private func sleep() {
        var descriptors = [pollfd(fd: wakeUp, events: Int16(POLLIN), revents: 0)]
        var limit: Duration? = wakeUp < 0 ? .seconds(1) : nil
        for bus in connections {
            let (descriptor, time) = bus.waitsFor()
            descriptors.append(descriptor)
            limit = [limit, time].compactMap { $0 }.min()
        }
        let milliseconds = limit.map { $0 / .milliseconds(1) }.map { Int32(max(0, min($0.rounded(.up), 60_000))) }
        poll(&descriptors, nfds_t(descriptors.count), milliseconds ?? -1)
        var count: UInt64 = 0
        if descriptors[0].revents != 0 { eventfd_read(wakeUp, &count) }
    }
}
