import Glibc

/// Clocks shared by the processes of one machine.
enum Instant {
    /// Microseconds on the steady clock, which is the same in every process.
    static var steady: Int64 { read(CLOCK_MONOTONIC) }
    /// Microseconds since 1970.
    static var wall: Int64 { read(CLOCK_REALTIME) }

    /// Seconds from an earlier moment of the steady clock until now.
    static func seconds(since start: Int64) -> Double { Double(steady - start) / 1_000_000 }

    /// Blocks the calling thread.
    static func pause(seconds: Double) {
        guard seconds > 0 else { return }
        let whole = Int(seconds)
        var rest = timespec(tv_sec: whole, tv_nsec: Int((seconds - Double(whole)) * 1_000_000_000))
        var remaining = timespec()
        while nanosleep(&rest, &remaining) != 0, errno == EINTR { rest = remaining }
    }

    /// Checks a condition every few milliseconds until it is true.
    /// - Returns: whether it became true before the deadline.
    static func wait(upTo seconds: Double, until condition: () throws -> Bool) rethrows -> Bool {
        let start = steady
        while try !condition() {
            guard self.seconds(since: start) < seconds else { return false }
            pause(seconds: 0.005)
        }
        return true
    }

    private static func read(_ clock: clockid_t) -> Int64 {
        var now = timespec()
        clock_gettime(clock, &now)
        return Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000
    }
}
