import Vitals

/// What the pages read: the gateway's memory, and its store.
struct PageSources: Sendable {
    /// Rows of one reading of the store.
    static let rows = 1000
    /// The most samples of a plot: five-minute values of two months, or a week with one each half minute.
    static let maximumSamples = 20_000

    let view: any GatewayView
    let reader: any GatewayReader

    /// The devices that a visitor may see, with their states.
    func devices(_ rights: PageRights) async -> [ShownDevice] {
        var devices: [ShownDevice] = []
        for device in await reader.devices where rights.covers(device) {
            devices.append(ShownDevice(device, await reader.states(of: device.id)))
        }
        return devices
    }

    /// A device that a visitor may see; `nil` if there is none.
    func device(_ id: DeviceID, _ rights: PageRights) async -> ShownDevice? {
        guard let device = await reader.devices.first(where: { $0.id == id }), rights.covers(device) else { return nil }
        return ShownDevice(device, await reader.states(of: id))
    }

    /// The samples of a metric that start within a range, in their order, without withdrawn ones, and whether there are more.
    func samples(
        of device: DeviceID, _ metric: Metric, starting range: Range<Timestamp>, limit: Int = Self.maximumSamples
    ) async throws(StoreError) -> (samples: [StoredSample], isCut: Bool) {
        var found: [StoredSample] = []
        var after: SampleKey?
        while true {
            let page = try await reader.samples(
                of: device, metric, starting: range, after: after, limit: Self.rows)
            found += page.filter { !$0.isWithdrawn }
            after = page.last.map { SampleKey($0.sample) }
            if page.count < Self.rows { return (found, false) }
            if found.count >= limit { return (found, true) }
        }
    }

    /// The days of a metric.
    func days(
        of device: DeviceID, _ metric: Metric, _ days: ClosedRange<LocalDay>
    ) async throws(StoreError) -> [DailySummary] {
        try await reader.days(of: device, metric, days, limit: Self.rows)
    }
}

/// The small plots of the overview. Each is read from the store now and then, and kept meanwhile.
final class Sparklines: Sendable {
    /// The most of them that a page has: a page with more values is one to search in, and each needs a reading of the store.
    static let maximum = 40
    /// How long one is kept.
    static let age: Duration = .minutes(5)
    /// The time that one shows.
    static let span: Duration = .hours(24)

    private let cache = ReadingCache<String, String>(age: Sparklines.age, maximum: Sparklines.maximum)

    /// What was drawn last, by the keys of the values.
    var drawn: [String: String] { cache.contents }

    /// Draws those of these devices that are missing or old.
    func refresh(_ devices: [ShownDevice], from sources: PageSources, _ clock: PageClock) async throws(StoreError) {
        var wanted: [(key: String, device: DeviceID, metric: Metric, user: Int?)] = []
        for device in devices {
            for value in device.tileValues where value.stored.sample.metric.shape == .value {
                let sample = value.stored.sample
                wanted.append((device.key(of: value), device.id, sample.metric, sample.user))
            }
        }
        for (key, device, metric, user) in wanted.prefix(Self.maximum) {
            if cache.content(of: key, at: clock.now) != nil { continue }
            let axis = TimeAxis(.day, from: clock.now - Self.span, to: clock.now, in: clock.calendar)
            var spark = Sparkline(metric, name: Wording.name(of: metric), axis: axis)
            let (samples, _) = try await sources.samples(
                of: device, metric, starting: clock.now - Self.span..<clock.now, limit: PageSources.rows)
            // A device for several has a plot of the one whose value is shown.
            let own = samples.filter { $0.sample.user == user }
            for sample in own { spark.add(sample) }
            cache.store(own.count > 1 ? spark.svg() : "", of: key, at: clock.now)
        }
    }
}

/// The sleeps of the last days, since a device's newest one may be a nap. They are read from the store when there is a newer one, and now
/// and then, and kept meanwhile.
final class RecentSleeps: Sendable {
    private struct Reading {
        var newest: SampleID
        var revision: Int
        var sleeps: [StoredSample]
    }
    private let cache = ReadingCache<DeviceID, Reading>(age: Sparklines.age, maximum: Sparklines.maximum)

    /// What was read last.
    var read: [DeviceID: [StoredSample]] { cache.contents.mapValues(\.sleeps) }

    /// Reads those of these devices that are missing or old: of as many as have small plots.
    func refresh(
        _ devices: [ShownDevice], from sources: PageSources, at now: Timestamp
    ) async throws(StoreError) {
        var wanted: [(device: DeviceID, newest: StoredSample)] = []
        for device in devices {
            guard let newest = device.latest[.sleep]?.stored, now - newest.sample.end < OverviewBuilder.nightAge else {
                continue
            }
            wanted.append((device.id, newest))
        }
        for (device, newest) in wanted.prefix(Sparklines.maximum) {
            let found = cache.content(of: device, at: now)
            if let found, found.newest == newest.id, found.revision == newest.revision { continue }
            let (sleeps, _) = try await sources.samples(
                of: device, .sleep, starting: now - .days(2)..<now, limit: PageSources.rows)
            cache.store(
                Reading(newest: newest.id, revision: newest.revision, sleeps: sleeps), of: device, at: now)
        }
    }
}
