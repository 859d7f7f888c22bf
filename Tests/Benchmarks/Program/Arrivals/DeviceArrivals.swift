/// The samples that arrived from one device: each distinct one is counted once, and everything wrong separately.
struct DeviceArrivals: Sendable {
    /// No key of the feeder is greater.
    private static let maximumKey: Int64 = 20_000_000

    /// The fingerprint of the sample's `id`, by key; 0 for a sample that has not arrived.
    private(set) var identities: [UInt64] = []
    /// Distinct samples.
    private(set) var received = 0
    /// Samples that arrived again with the same `id`.
    private(set) var duplicates = 0
    /// Samples that arrived again with another `id`.
    private(set) var newIdentities = 0
    /// Samples that were never fed.
    private(set) var strangers = 0
    /// Samples whose first arrival came after a later sample of the same kind, live or historical.
    private(set) var outOfOrder = 0
    private var newestLive: Int64 = -1
    private var newestHistorical: Int64 = -1

    /// Takes the sample of a key; `nil` if no key has its time.
    mutating func record(_ key: Int64?, identity: UInt64, isHistorical: Bool) {
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
