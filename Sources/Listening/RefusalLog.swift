import Synchronization

/// Decides which refusals of a listener are logged, so that a flood of connections is none of lines.
package final class RefusalLog: Sendable {
    /// The most lines in a second.
    package static let linesPerSecond = 10
    /// How long the refused connections of an address are counted after the last one.
    package static let memory: Duration = .seconds(3600)
    /// The most addresses that are remembered. The one whose last refusal is the oldest is forgotten first.
    package static let maximumAddresses = 256

    private struct Entry {
        var refusals = 0
        var refusedAt: Duration
    }

    private struct State {
        var lines = (second: Int64(0), count: 0)
        var entries: [Network: Entry] = [:]

        mutating func mayLog(at uptime: Duration) -> Bool {
            let second = uptime.components.seconds
            if lines.second != second { lines = (second, 0) }
            lines.count += 1
            return lines.count <= RefusalLog.linesPerSecond
        }

        mutating func count(_ network: Network, at uptime: Duration) -> Int? {
            var entry = entries[network] ?? Entry(refusedAt: uptime)
            if uptime - entry.refusedAt > RefusalLog.memory { entry = Entry(refusedAt: uptime) }
            entry.refusals += 1
            entry.refusedAt = uptime
            entries[network] = entry
            if entries.count > RefusalLog.maximumAddresses,
                let oldest = entries.min(by: { $0.value.refusedAt < $1.value.refusedAt })?.key
            {
                entries[oldest] = nil
            }
            // The first, second, fourth and so on.
            return entry.refusals.nonzeroBitCount == 1 && mayLog(at: uptime) ? entry.refusals : nil
        }
    }
    private let state = Mutex(State())

    package init() {}

    /// Whether a line may be logged now. It counts as logged then.
    package func mayLog(at uptime: Duration) -> Bool { state.withLock { $0.mayLog(at: uptime) } }

    /// Counts a refused connection of an address. Returns how many it has had if a line is due: with the first, second, fourth
    /// and so on.
    package func countRefusal(of address: String, at uptime: Duration) -> Int? {
        let network = Network(of: address)
        return state.withLock { $0.count(network, at: uptime) }
    }
}
