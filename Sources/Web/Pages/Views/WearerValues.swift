import Synchronization
import Vitals

/// The newest values of everybody who shares a device, such as a scale. The device's state has only that of its last wearer, so those of the
/// others are read from the store now and then, and kept meanwhile.
final class WearerValues: Sendable {
    /// How long what was read is kept. A newer value of the state is taken at once.
    static let age: Duration = .minutes(5)
    /// How far back values are looked for: most are found within the first span, and who was away longer than the last has none.
    static let spans: [Duration] = [.days(2), .days(90)]
    /// The most values that are looked for on a page: each needs readings of the store.
    static let maximum = 40

    private struct Kept {
        var values: [StoredSample] = []
        /// `nil` if the store was not read for it.
        var readAt: Timestamp?
    }
    private let kept = Mutex<[String: Kept]>([:])

    private static func key(_ device: ShownDevice, _ metric: Metric) -> String { "\(device.id).\(metric.rawValue)" }

    /// Reads what is missing or old of shared devices.
    func refresh(_ devices: [ShownDevice], from sources: PageSources, at now: Timestamp) async throws(StoreError) {
        let wanted = devices.filter(\.isShared).flatMap { device in device.tileMetrics.map { (device, $0) } }
        for (device, metric) in wanted.prefix(Self.maximum) where !isFresh(device, metric, at: now) {
            var values: [StoredSample] = []
            for span in Self.spans {
                let (samples, isCut) = try await sources.samples(of: device.id, metric, starting: now - span..<now)
                // The newest ones would be missing.
                guard !isCut else { break }
                values = device.newest(of: samples)
                if values.count >= device.persons.count { break }
            }
            cache(values, Self.key(device, metric), at: now)
        }
    }

    /// The devices with the values of those who were not the last ones, as far as these are known.
    func complete(_ devices: [ShownDevice], at now: Timestamp) -> [ShownDevice] {
        devices.map { device in
            guard device.isShared else { return device }
            var device = device
            for metric in device.tileMetrics {
                guard let latest = device.latest[metric] else { continue }
                let freshness = latest.freshUntil.map { $0 - latest.stored.sample.end }
                for stored in others(than: latest.stored, of: device, metric) {
                    let freshUntil = freshness.map { stored.sample.end + $0 }
                    device.others.append(
                        LatestState(
                            stored: stored, freshUntil: freshUntil, isStale: freshUntil.map { $0 <= now } ?? false))
                }
            }
            return device
        }
    }

    /// What is known of other wearers. The newest value is kept for the time when it is another one's.
    @inline(never)
    private func others(than newest: StoredSample, of device: ShownDevice, _ metric: Metric) -> [StoredSample] {
        let wearers = device.configured.wearers
        return kept.withLock { kept in
            var known = kept[Self.key(device, metric)] ?? Kept()
            known.values.removeAll { wearers.areSame($0.sample.user, newest.sample.user) }
            let others = known.values.filter { wearers.person(user: $0.sample.user) != nil }
            known.values.append(newest)
            // Those of devices that are gone go with the others.
            if kept.count > 4 * Self.maximum { kept = [:] }
            kept[Self.key(device, metric)] = known
            return others
        }
    }

    // Their locks must not be inlined where a wait lies between them: Decision 165.
    @inline(never)
    private func isFresh(_ device: ShownDevice, _ metric: Metric, at now: Timestamp) -> Bool {
        kept.withLock { kept in
            guard let known = kept[Self.key(device, metric)], let readAt = known.readAt else { return false }
            // A value that was not seen before may have hidden one of somebody else.
            let isKnown = device.latest[metric].map { known.values.contains($0.stored) } ?? true
            return isKnown && readAt <= now && now - readAt < Self.age
        }
    }

    @inline(never)
    private func cache(_ values: [StoredSample], _ key: String, at now: Timestamp) {
        kept.withLock { $0[key] = Kept(values: values, readAt: now) }
    }
}

extension ShownDevice {
    /// Whether several persons may wear it.
    var isShared: Bool { !configured.people.isEmpty }

    /// The newest of these samples of each person, the newest first.
    fileprivate func newest(of samples: [StoredSample]) -> [StoredSample] {
        var found: [StoredSample] = []
        for stored in samples.reversed() where person(user: stored.sample.user) != nil {
            if !found.contains(where: { configured.wearers.areSame($0.sample.user, stored.sample.user) }) {
                found.append(stored)
            }
        }
        return found
    }
}
