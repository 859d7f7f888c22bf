import Synchronization

/// Slows down who guesses secrets: after a wrong one for a device, an address has to wait before the next is looked at, longer
/// with each. Other devices of that address, such as those behind the same proxy, do not wait.
///
/// A right secret clears the entry. It remembers a limited number of entries; the one that erred longest ago is forgotten first.
package final class GuessLimit: Sendable {
    /// The wait after the first wrong secret. It doubles with each.
    package static let firstWait: Duration = .seconds(1)
    /// The longest wait.
    package static let longestWait: Duration = .seconds(60)
    /// The most entries that are remembered.
    package static let maximumEntries = 1024

    /// Who guesses what.
    private struct Entry: Hashable {
        var address: String
        var device: String
    }

    private struct Record {
        var wait: Duration
        var erredAt: Duration
        var mayTryAt: Duration
    }
    private let records = Mutex<[Entry: Record]>([:])

    package init() {}

    /// How long an address still has to wait; `nil` if it may try.
    package func wait(of address: String, for device: String, at uptime: Duration) -> Duration? {
        records.withLock { records in
            guard let record = records[Entry(address: address, device: device)], record.mayTryAt > uptime else {
                return nil
            }
            return record.mayTryAt - uptime
        }
    }

    /// Notes a wrong secret of an address. `device` is what it called itself, known or not.
    package func failed(_ address: String, for device: String, at uptime: Duration) {
        let entry = Entry(address: address, device: device)
        records.withLock { records in
            let wait = records[entry].map { min($0.wait * 2, Self.longestWait) } ?? Self.firstWait
            records[entry] = Record(wait: wait, erredAt: uptime, mayTryAt: uptime + wait)
            guard records.count > Self.maximumEntries else { return }
            if let oldest = records.min(by: { $0.value.erredAt < $1.value.erredAt })?.key { records[oldest] = nil }
        }
    }

    /// Forgets the errors of an address, which had the right secret.
    package func succeeded(_ address: String, for device: String) {
        records.withLock { $0[Entry(address: address, device: device)] = nil }
    }

    /// The number of remembered entries.
    package var count: Int { records.withLock { $0.count } }
}
