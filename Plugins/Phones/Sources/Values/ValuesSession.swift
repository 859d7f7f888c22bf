import Concurrency
import GatewayKit
import Logging
import Vitals

/// A session with publishers at the broker: their messages become samples, one after the other.
final class ValuesSession: DocumentSession {
    static var title: String { "The session" }
    let description: DeviceDescription
    private let topics: [ValueTopic]
    private let repeated: RepeatedMessages
    private let context: SessionContext
    let inbox = EventInbox()
    private let batches = SettledBatches()
    let isOver = Promise<Void>()

    init(_ topics: [ValueTopic], _ repeated: RepeatedMessages, _ context: SessionContext) {
        self.topics = topics
        self.repeated = repeated
        self.context = context
        let metrics = Set(topics.flatMap { $0.values.map(\.metric) })
        description = DeviceDescription(
            identity: DeviceIdentity(model: "MQTT"),
            capabilities: Capabilities(Dictionary(uniqueKeysWithValues: metrics.map { ($0, []) })))
    }

    func nextEvents() async throws(DeviceError) -> [DeviceEvent]? { try await inbox.next() }

    func settle(_ receipts: [SettledReceipt]) async throws(DeviceError) { batches.settle(receipts) }

    /// Takes messages until the link ends.
    func serve(_ link: any DocumentLink) async throws {
        await repeated.load(from: context.notes)
        while true { await ingest(try await link.next()) }
    }

    /// Takes a message, and answers it when its samples are settled. It comes again if the session ends before.
    private func ingest(_ document: Document) async {
        for values in document.takeDropped() { await inbox.send([.skipped(values)]) }
        guard let message = document.message else {
            return document.answer(.unreadable("This driver reads messages of the broker, and no documents."))
        }
        var report = DocumentReport()
        for (place, topic) in topics.enumerated() where topic.topic.own.matches(message.topic) {
            guard message.size <= ValuesDriver.maximumSize else {
                let long = SkippedValues(
                    reason: "too_long", what: "messages of \(topic.text)", count: 1, limit: ValuesDriver.maximumSize)
                await inbox.send([.skipped(long)])
                continue
            }
            let arrival = repeated.arrival(of: document.receivedAt)
            let read = ValueMessage(
                document.bytes, of: topic, receivedAt: arrival, isStored: message.isStored, calendar: context.calendar)
            let isRepeated = repeated.isKnown(read.untimed, of: place, at: arrival)
            let values = read.timed + (isRepeated ? [] : read.untimed)
            let samples = values.map(\.sample).filter { $0.metric != .battery }
            do {
                for outcome in try await batches.send(samples, to: inbox) { report.count(outcome) }
            } catch {
                return document.answer(.interrupted("The gateway has closed the session."))
            }
            if !isRepeated, !read.untimed.isEmpty {
                await repeated.remember(read.untimed, of: place, at: arrival, in: context.notes)
            }
            let further = others(among: values, read.problems, topic)
            if !further.isEmpty { await inbox.send(further) }
        }
        document.answer(.stored(report))
    }

    /// What of a message is no sample: the level of a battery, and what is wrong.
    private func others(
        among values: [ValueMessage.Value], _ problems: [(metric: Metric, problem: ValueMessage.Problem)],
        _ topic: ValueTopic
    ) -> [DeviceEvent] {
        var events: [DeviceEvent] = []
        for value in values where value.sample.metric == .battery {
            if let percent = value.sample.value { events.append(.battery(percent: percent, isCharging: nil)) }
        }
        for (metric, problem) in problems {
            let what = "\(metric.rawValue) of \(topic.text)"
            events.append(.skipped(SkippedValues(reason: problem.rawValue, what: what, count: 1)))
        }
        return events
    }
}
