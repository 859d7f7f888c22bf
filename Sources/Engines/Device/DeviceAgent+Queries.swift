import GatewayKit
import Vitals

extension DeviceAgent {
    /// Days that one answer may be about: a leap year. Where they do not fit into its 200 KiB, its `next` says how to go on.
    static let maximumDays = 366

    /// Answers from the store, after a synchronisation of the range where that is asked for.
    func look(up item: CommandItem) async -> Answer {
        switch item.command {
        case .history(let metric, let from, let to, let limit, let page, let syncsFirst, let isUserInitiated):
            if syncsFirst, page == nil, let failure = await bring(metric, from: from, to: to, for: item) {
                return failure
            }
            return await samples(
                of: metric, from: from, to: to, isUserInitiated: isUserInitiated, limit: limit, page: page)
        case .daily(let metric, let from, let to, let syncsFirst):
            if syncsFirst, from <= to {
                let range = starts(of: metric, on: from...to)
                let end = min(range.upperBound, clock.now)
                if let failure = await bring(metric, from: range.lowerBound, to: end, for: item) { return failure }
            }
            return await days(of: metric, from: from, to: to)
        default: return Answer(.failed, code: .unknownCommand)
        }
    }

    /// Synchronises a range and waits for it. Returns the answer where that failed.
    private func bring(_ metric: Metric, from: Timestamp?, to: Timestamp?, for item: CommandItem) async -> Answer? {
        let done = Latch<SyncState>()
        // Taken out by whoever ends the job: it may outlive this command.
        let key = "\(item.key)#sync"
        let job = SyncJob(name: item.name, metrics: [metric], from: from, to: to, commands: [key])
        guard hasRoom(for: job) else { return Self.full }
        await answer(item.key, Answer(.accepted))
        guard session != nil else { return Answer(.failed, code: .offline, message: "The device was lost.") }
        guard request(job) else { return stopping.value == nil ? Self.full : Self.gone }
        syncWaiters[key] = done
        guard let state = try? await done.wait() else {
            return Answer(.failed, code: .offline, message: "The device was lost.")
        }
        return state.failed.first.map { Answer(.failed, code: $0.code, message: $0.message) }
    }

    private func samples(
        of metric: Metric, from: Timestamp?, to: Timestamp?, isUserInitiated: Bool?, limit: Int, page: String?
    ) async -> Answer {
        let after = page.flatMap { SampleKey(page: $0) }
        if page != nil, after == nil {
            let violation = Violation(path: "page", message: "Give the page as `next` of the answer before named it.")
            return Answer(.rejected, code: .invalid, message: violation.message, violations: [violation])
        }
        let lower = from ?? SyncPolicy.epoch
        let upper = max(lower, to ?? clock.now + SyncPolicy.futureTolerance)
        do throws(StoreError) {
            let samples = try await store.samples(
                of: id, metric: metric, starting: lower..<upper, isUserInitiated: isUserInitiated, after: after,
                limit: limit)
            let next = samples.count == limit ? samples.last.map { SampleKey($0.sample).page } : nil
            return Answer(.done, data: .samples(samples, metric: metric, next: next))
        } catch {
            return Answer(.failed, code: .deviceError, message: "The store cannot be read: \(error.message)")
        }
    }

    private func days(of metric: Metric, from: LocalDay, to: LocalDay) async -> Answer {
        guard to >= from, to.number - from.number < Self.maximumDays else {
            let violation = Violation(
                path: "to_day", message: "to_day must be from_day or up to \(Self.maximumDays - 1) days later.")
            return Answer(.rejected, code: .invalid, message: violation.message, violations: [violation])
        }
        do throws(StoreError) {
            var days = try await store.days(of: id, metric: metric, in: from...to, limit: Self.maximumDays)
            let today = ledger.today
            let isKnown = today.metrics.contains(metric) || deviceToday[metric]?.day == today.day
            if (from...to).contains(today.day), isKnown {
                days.removeAll { $0.summary.day == today.day }
                days.append(recordOfToday(metric, at: clock.now))
            }
            return Answer(.done, data: .days(days))
        } catch {
            return Answer(.failed, code: .deviceError, message: "The store cannot be read: \(error.message)")
        }
    }
}

extension SampleKey {
    /// The name of the page that begins after this sample.
    package var page: String { "\(start.milliseconds).\(end.milliseconds).\(isUserInitiated ? 1 : 0)" }

    /// The sample that a page's name stands for; `nil` where it is no such name.
    package init?(page: String) {
        let parts = page.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let start = Int64(parts[0]), let end = Int64(parts[1]),
            parts[2] == "0" || parts[2] == "1"
        else { return nil }
        self.init(
            start: Timestamp(milliseconds: start), end: Timestamp(milliseconds: end), isUserInitiated: parts[2] == "1")
    }
}
