import GatewayKit
import Vitals

/// Answers queries about samples and days from the store.
struct StoreQueries {
    /// Maximum days per answer: a leap year. If they exceed its 200 KiB, its `next` says how to go on.
    static let maximumDays = 366

    /// More samples than fit into one answer: after these, no more days are read for it.
    private static let answeredItems = 1_000

    let context: DeviceContext
    let days: DailySummaryTracker

    /// A page of samples.
    func samples(
        of metric: Metric, from: Timestamp?, to: Timestamp?, isUserInitiated: Bool?, limit: Int, page: String?
    ) async -> Answer {
        let after = page.flatMap { SampleKey(page: $0) }
        if page != nil, after == nil {
            let violation = Violation(path: "page", message: "page must be the `next` of an earlier answer.")
            return Answer(.rejected, code: .invalid, message: violation.message, violations: [violation])
        }
        let lower = from ?? SyncPolicy.epoch
        let upper = max(lower, to ?? context.clock.now + SyncPolicy.futureTolerance)
        do throws(StoreError) {
            let samples = try await context.store.samples(
                of: context.id, metric: metric, starting: lower..<upper, isUserInitiated: isUserInitiated, after: after,
                limit: limit)
            let next = samples.count == limit ? samples.last.map { SampleKey($0.sample).page } : nil
            return Answer(.done, data: .samples(samples, metric: metric, next: next))
        } catch {
            return .unreadable(error)
        }
    }

    /// Days, including the running one; with their samples if requested.
    func days(of metric: Metric, from: LocalDay, to: LocalDay, listsItems: Bool) async -> Answer {
        guard to >= from, to.number - from.number < Self.maximumDays else {
            let violation = Violation(
                path: "to_day", message: "to_day must be from_day or up to \(Self.maximumDays - 1) days later.")
            return Answer(.rejected, code: .invalid, message: violation.message, violations: [violation])
        }
        do throws(StoreError) {
            var found = try await context.store.days(
                of: context.id, metric: metric, in: from...to, limit: Self.maximumDays)
            if (from...to).contains(days.day), let today = try await days.today(of: metric),
                today.summary.day <= to
            {
                found.removeAll { $0.summary.day == today.summary.day }
                found.append(today)
            }
            return Answer(.done, data: listsItems ? .itemisedDays(try await itemised(found)) : .days(found))
        } catch {
            return .unreadable(error)
        }
    }

    /// Days with their samples. There may be fewer days: reading stops once there are more samples than an answer
    /// takes.
    private func itemised(_ records: [DayRecord]) async throws(StoreError) -> [ItemisedDay] {
        var result: [ItemisedDay] = []
        var count = 0
        for record in records where count < Self.answeredItems {
            let day = MetricDay(record.summary.metric, record.summary.day)
            let (samples, isWhole) = try await days.reader.items(of: day)
            let next = isWhole ? nil : samples.last.map { SampleKey($0.sample).page }
            result.append(ItemisedDay(record: record, samples: samples, next: next))
            count += samples.count
        }
        return result
    }
}

extension Answer {
    fileprivate static func unreadable(_ error: StoreError) -> Answer {
        Answer(.failed, code: .deviceError, message: "The store cannot be read: \(error.message)")
    }
}
