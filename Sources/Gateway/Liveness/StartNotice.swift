import Dispatch
import Foundation
import Vitals

/// Asks the service manager for more time while the gateway is put together: a store of an earlier version is copied, checked
/// and updated before anything else, which takes longer than a start may take where it is large and the disk is slow. A
/// start that is cut off would begin anew, and never end.
package final class StartNotice: Sendable {
    /// The time between two requests.
    package static let interval: Duration = .seconds(10)
    /// The time that each of them asks for, beginning with it: a request may be late on a machine that is busy.
    package static let time: Duration = .seconds(60)
    /// How long it asks at most, so that an opening that hangs is ended some time: a store of a hundred gigabytes on an SD
    /// card is read twice and written once in four hours.
    package static let longest: Duration = .hours(6)

    private let notifier: ServiceNotifier
    private let end = DispatchSemaphore(value: 0)
    private let hasEnded = DispatchSemaphore(value: 0)

    private init(_ notifier: ServiceNotifier) { self.notifier = notifier }

    /// Runs `body`, and asks for time until it returns. The requests come from their own thread: opening a store blocks.
    /// - Parameters:
    ///   - notifier: the service manager; `nil` if there is none.
    ///   - requests: how many there are at most.
    package static func during<Result>(
        _ notifier: ServiceNotifier?, interval: Duration = StartNotice.interval,
        requests: Int = Int(StartNotice.longest / StartNotice.interval),
        _ body: () async throws -> Result
    ) async rethrows -> Result {
        guard let notifier else { return try await body() }
        let notice = StartNotice(notifier)
        notice.start(interval, requests)
        defer { notice.stop() }
        return try await body()
    }

    private func start(_ interval: Duration, _ requests: Int) {
        let thread = Thread {
            var left = requests
            repeat {
                if left > 0 { self.request() }
                left -= 1
            } while self.end.wait(timeout: .now() + interval.dispatchInterval) == .timedOut
            self.hasEnded.signal()
        }
        thread.name = "start"
        thread.start()
    }

    /// No request comes after it. Sending never waits, so neither does this.
    private func stop() {
        end.signal()
        hasEnded.wait()
    }

    private func request() {
        let microseconds = Int64(Self.time / .microseconds(1))
        notifier.send("EXTEND_TIMEOUT_USEC=\(microseconds)", "STATUS=Opening the store.")
    }
}
