import GatewayKit
import Vitals

extension SampleIngest {
    /// Maximum samples examined that begin in the same millisecond, such as a maximum and a minimum.
    private static let sameStart = 16
    /// User-initiated samples read from the store at once.
    private static let measuredPage = 500

    /// Gives the device's records the identity that the gateway already stored. A sample from the gateway's schedule is
    /// stored as automatic, but the device remembers it as user-initiated; a sample from a command is stored as
    /// user-initiated, but the device may not remember that.
    func withStoredIdentity(
        _ samples: [Sample], of metric: Metric, capabilities: Capabilities
    ) async throws(StoreError) -> [Sample] {
        guard capabilities.supports(.measure, metric), let first = samples.first, let last = samples.last else {
            return samples
        }
        var result = samples
        let measured = try await measured(metric, from: first.start, through: last.start)
        let reported = Set(samples.filter(\.isUserInitiated).map(SampleKey.init))
        for (index, sample) in samples.enumerated() where !sample.isUserInitiated {
            let key = SampleKey(start: sample.start, end: sample.end, isUserInitiated: true)
            // A device that has both distinguishes them itself.
            if measured.contains(key), !reported.contains(key) { result[index].isUserInitiated = true }
        }
        guard !capabilities.supports(.monitor, metric) else { return result }
        // One by one: the user-initiated samples are few, but the store may have very many others between them.
        for (index, sample) in samples.enumerated() where sample.isUserInitiated {
            let same = try await context.store.samples(
                of: context.id, metric: metric, starting: sample.start..<(sample.start + .milliseconds(1)), after: nil,
                limit: Self.sameStart)
            if same.contains(where: { $0.sample.end == sample.end && !$0.sample.isUserInitiated }) {
                result[index].isUserInitiated = false
            }
        }
        return result
    }

    /// The stored user-initiated samples.
    private func measured(
        _ metric: Metric, from: Timestamp, through: Timestamp
    ) async throws(StoreError) -> Set<SampleKey> {
        var keys: Set<SampleKey> = []
        var after: SampleKey?
        while true {
            let page = try await context.store.samples(
                of: context.id, metric: metric, starting: from..<(through + .milliseconds(1)), isUserInitiated: true,
                after: after, limit: Self.measuredPage)
            keys.formUnion(page.map { SampleKey($0.sample) })
            guard page.count == Self.measuredPage, let last = page.last else { return keys }
            after = SampleKey(last.sample)
        }
    }
}
