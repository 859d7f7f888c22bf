import Concurrency
import GatewayKit
import Vitals

/// Handling of commands.
extension DeviceAgent {
    private var answers: AnswerQueue { lane.answers }

    /// Takes a command. It is served concurrently, so that a slow one does not hold up the next. Work that must keep the
    /// order of arrival is done before the next command is taken, and does not wait for the device.
    func handle(_ item: CommandItem) async {
        guard await lane.admits(item), !(await isServedInOrder(item)) else { return }
        let answer = await accept(item.command)
        lane.begin()
        await launcher.perform { await self.serve(item, answer) }
    }

    /// Serves starts and stops of measurements, which must not overtake each other.
    private func isServedInOrder(_ item: CommandItem) async -> Bool {
        switch item.command {
        case .measure(let metric, let duration) where lane.isReady(for: item.command):
            await measuring.start(metric, duration, for: item.key)
        case .stopMeasuring(let metric): await measuring.stop(metric, for: item.key)
        default: return false
        }
        return true
    }

    /// Accepts changes of the monitoring, which must not overtake each other either, and acknowledgements, of which the first counts. The
    /// device gets the changes later.
    /// - Returns: the answer, if there is nothing more to do.
    private func accept(_ command: DeviceCommand) async -> Answer? {
        switch command {
        case .configure(let patch, let ifVersion, let adopts):
            await monitor.accept(patch, ifVersion: ifVersion, adopts: adopts)
        case .acknowledge(let id, let person): await ingest.acknowledge(id, by: person)
        case .assign(let id, let person): await ingest.assign(id, to: person)
        case .withdraw(let id): await ingest.withdraw(id)
        default: nil
        }
    }

    private func serve(_ item: CommandItem, _ early: Answer?) async {
        defer {
            lane.end()
            scheduleTick(within: Self.tick)
        }
        if let answer = await lane.prepare(item) ?? early { return await answers.send(item.key, answer) }
        await perform(item)
    }

    private func perform(_ item: CommandItem) async {
        switch item.command {
        case .sync(let metrics, let from, let to):
            let job = SyncJob(name: item.name, metrics: metrics, from: from, to: to, commands: [item.key])
            await history.request(job, for: item.key) { link.session != nil }
        case .measure(let metric, let duration): await measuring.start(metric, duration, for: item.key)
        case .fetch(let metrics): await answers.send(item.key, await fetch(metrics))
        case .time: await answers.send(item.key, await setTime())
        case .reconnect:
            link.reconnect()
            await answers.send(item.key, Answer(.done))
        case .history, .daily: await answers.send(item.key, await lookUp(item))
        case .configure(let patch, _, _): await answers.send(item.key, await monitor.confirm(patch, over: link))
        case .stopMeasuring, .acknowledge, .assign, .withdraw: break  // served in order
        }
    }

    private func fetch(_ metrics: [Metric]) async -> Answer {
        do throws(DeviceError) {
            let failures = try await link.ask { .fetch(metrics, $0) }
            return monitor.answer(reading: metrics, failures: failures)
        } catch { return Answer(error) }
    }

    private func setTime() async -> Answer {
        do throws(DeviceError) { try await link.ask { .setClock($0) } } catch {
            if error.code == .unsupported { return Answer(.rejected, code: .unsupported, message: error.message) }
            return Answer(error)
        }
        return Answer(.done, data: .clock(skew: link.state.clockSkew))
    }

    /// Answers from the store, after a synchronisation of the range if requested.
    private func lookUp(_ item: CommandItem) async -> Answer {
        let queries = StoreQueries(context: context, days: days)
        switch item.command {
        case .history(let metric, let from, let to, let limit, let page, let syncsFirst, let isUserInitiated):
            if syncsFirst, page == nil, let failure = await sync(metric, from: from, to: to, for: item) {
                return failure
            }
            return await queries.samples(
                of: metric, from: from, to: to, isUserInitiated: isUserInitiated, limit: limit, page: page)
        case .daily(let metric, let from, let to, let syncsFirst, let listsItems):
            if syncsFirst, from <= to {
                let range = metric.starts(on: from...to, in: context.policy.calendar)
                let end = min(range.upperBound, context.clock.now)
                if let failure = await sync(metric, from: range.lowerBound, to: end, for: item) { return failure }
            }
            return await queries.days(of: metric, from: from, to: to, listsItems: listsItems)
        default: return Answer(.failed, code: .unknownCommand)
        }
    }

    private func sync(_ metric: Metric, from: Timestamp?, to: Timestamp?, for item: CommandItem) async -> Answer? {
        await history.syncRange(metric, from: from, to: to, for: item) { link.session != nil }
    }
}

extension Metric {
    /// The range in which a device is asked for samples of local days: the days' bounds. A sleep belongs to the day of
    /// its end, and rarely begins more than two days before.
    fileprivate func starts(on days: ClosedRange<LocalDay>, in calendar: LocalCalendar) -> Range<Timestamp> {
        let begin = calendar.bounds(of: days.lowerBound).lowerBound
        let end = calendar.bounds(of: days.upperBound).upperBound
        return (shape == .sleep ? begin - .days(2) : begin)..<end
    }
}
