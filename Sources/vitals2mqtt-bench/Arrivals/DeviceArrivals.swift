/// What arrived of one device: each sample at most once counted as received, and everything that is wrong with the rest.
struct DeviceArrivals: Sendable {
    /// Keys beyond it are none of the feeder's.
    private static let maximumKey: Int64 = 20_000_000

    /// By key, the fingerprint of the sample's `id`; 0 for one that has not arrived.
    private(set) var identities: [UInt64] = []
    /// Different samples.
    private(set) var received = 0
    /// Samples that arrived again under the same `id`.
    private(set) var duplicates = 0
    /// Samples that arrived again under another `id`.
    private(set) var newIdentities = 0
    /// Samples that were never fed.
    private(set) var strangers = 0
    /// Samples that arrived first after a later one of the same kind, live or historical.
    private(set) var outOfOrder = 0
    private var newestLive: Int64 = -1
    private var newestHistorical: Int64 = -1

    /// Takes the sample of a key; `nil` for a time that no key has.
    mutating func take(_ key: Int64?, identity: UInt64, isHistorical: Bool) {
        guard let key, key >= 0, key <= Self.maximumKey else {
            strangers += 1
            return
        }
        let index = Int(key)
        if index >= identities.count {
            identities.append(
                contentsOf: repeatElement(0, count: max(index + 1 - identities.count, identities.count / 2)))
        }
        guard identities[index] == 0 else {
            if identities[index] == identity { duplicates += 1 } else { newIdentities += 1 }
            return
        }
        identities[index] = identity
        received += 1
        let newest = isHistorical ? newestHistorical : newestLive
        if key < newest { outOfOrder += 1 }
        if isHistorical { newestHistorical = max(newest, key) } else { newestLive = max(newest, key) }
    }

    /// Whether the sample of a key has arrived.
    func has(_ key: Int) -> Bool { key < identities.count && identities[key] != 0 }
}
