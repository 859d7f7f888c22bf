import Synchronization

/// Limits how often secrets can be guessed. After a wrong secret for a device, an address has to wait until the next one is
/// checked, longer each time. After many wrong secrets for any devices, the whole network of the address has to wait, so that
/// trying names is no way around it.
///
/// A device that had the right secret from a network does not wait for what others of that network guess, such as those behind
/// the same proxy. It remembers a limited number of entries; the one whose wait ends first is forgotten first.
package final class LoginRateLimiter: Sendable {
    /// The wait after the first wrong secret. It doubles with each.
    package static let firstWait: Duration = .seconds(1)
    /// The longest wait.
    package static let longestWait: Duration = .seconds(60)
    /// How many wrong secrets a network may send for any devices before it has to wait as a whole.
    package static let errorsPerNetwork = 20
    /// How long an entry is kept after its last wrong secret.
    package static let memory: Duration = .seconds(3600)
    /// The most entries that are remembered of each kind.
    package static let maximumEntries = 1024

    /// A network that guesses, and the device whose secret it guesses; without a device, that of any device.
    fileprivate struct Entry: Hashable {
        var network: Network
        var device: String?
    }

    fileprivate struct Record {
        var errors: Int
        var erredAt: Duration
        var mayTryAt: Duration
    }

    fileprivate struct State {
        var records: [Entry: Record] = [:]
        /// When a device had the right secret from a network for the last time.
        var known: [Entry: Duration] = [:]
    }
    private let state = Mutex(State())

    package init() {}

    /// How long an address still has to wait; `nil` if it may try.
    package func wait(of address: String, for device: String, at uptime: Duration) -> Duration? {
        let network = Network(of: address)
        let own = Entry(network: network, device: device)
        return state.withLock { state in
            var entries = [own]
            if state.known[own] == nil { entries.append(Entry(network: network)) }
            guard let end = entries.compactMap({ state.records[$0]?.mayTryAt }).max(), end > uptime else { return nil }
            return end - uptime
        }
    }

    /// Notes a wrong secret of an address. `device` is what it called itself, known or not.
    package func failed(_ address: String, for device: String, at uptime: Duration) {
        let network = Network(of: address)
        state.withLock { state in
            state.note(Entry(network: network, device: device), freeErrors: 0, at: uptime)
            state.note(Entry(network: network), freeErrors: Self.errorsPerNetwork, at: uptime)
        }
    }

    /// Forgets the errors of an address for a device, which had the right secret.
    package func succeeded(_ address: String, for device: String, at uptime: Duration) {
        let entry = Entry(network: Network(of: address), device: device)
        state.withLock { state in
            state.records[entry] = nil
            state.known[entry] = uptime
            guard state.known.count > Self.maximumEntries else { return }
            if let oldest = state.known.min(by: { $0.value < $1.value })?.key { state.known[oldest] = nil }
        }
    }

    /// Forgets all errors for a device that is known from now on: it may have called too early, with the right secret.
    package func forget(_ device: String) {
        state.withLock { state in
            for entry in state.records.keys where entry.device == device { state.records[entry] = nil }
        }
    }

    /// The number of remembered entries of wrong secrets.
    package var count: Int { state.withLock { $0.records.count } }
}

extension LoginRateLimiter.State {
    /// Counts a wrong secret. The first `freeErrors` cost no wait.
    fileprivate mutating func note(_ entry: LoginRateLimiter.Entry, freeErrors: Int, at uptime: Duration) {
        var record = records[entry] ?? LoginRateLimiter.Record(errors: 0, erredAt: uptime, mayTryAt: uptime)
        if uptime - record.erredAt > LoginRateLimiter.memory { record.errors = 0 }
        record.errors += 1
        record.erredAt = uptime
        var wait: Duration = .zero
        for _ in 0..<max(0, min(record.errors - freeErrors, 16)) {
            wait = min(max(wait * 2, LoginRateLimiter.firstWait), LoginRateLimiter.longestWait)
        }
        record.mayTryAt = uptime + wait
        records[entry] = record
        guard records.count > 2 * LoginRateLimiter.maximumEntries else { return }
        // An eighth at once, so that guesses at many names cost little.
        let waits = records.filter { $0.key != entry }.sorted { $0.value.mayTryAt < $1.value.mayTryAt }
        for (key, _) in waits.prefix(LoginRateLimiter.maximumEntries / 4) { records[key] = nil }
    }
}
