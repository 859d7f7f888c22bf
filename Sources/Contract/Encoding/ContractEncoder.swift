import JSON
package import MQTT
package import Vitals

/// Encodes the gateway's data as messages of the contract. It caches the time zone's last offset, so that neighbouring
/// samples need no look-up.
package struct ContractEncoder: Sendable {
    /// The topics for publishing.
    package let topics: ContractTopics
    var offsets: OffsetCache

    /// The payload of an available gateway or device.
    package static let online = "online"
    /// The payload of an unavailable gateway or device.
    package static let offline = "offline"

    /// An encoder for a gateway in a time zone.
    package init(topics: ContractTopics, calendar: LocalCalendar) {
        self.topics = topics
        offsets = OffsetCache(calendar)
    }

    /// Encodes a fact.
    /// - Parameters:
    ///   - info: the device concerned, for the person.
    ///   - isReplay: whether it was published before. A replay is always about the past: its samples are historical,
    ///     and an alert goes to the topic of late ones.
    package mutating func fact(
        _ fact: Fact, info: DeviceInfo, publishedAt: Timestamp, isReplay: Bool = false
    ) -> OutgoingMessage {
        switch fact.content {
        case .measurement(let measurement):
            self.measurement(
                measurement, of: fact.device, person: info.person(user: measurement.user), sequence: fact.sequence,
                publishedAt: publishedAt, isReplay: isReplay)
        case .day(let record):
            day(
                record, sequence: fact.sequence,
                to: .pastDay(fact.device, record.summary.metric, record.summary.day))
        case .alert(let event, let isLate):
            alert(
                event, person: info.person(user: event.user), sequence: fact.sequence,
                to: isLate || isReplay ? .historyEvent(fact.device) : .alertEvent(fact.device))
        case .question(let question): self.question(question, sequence: fact.sequence, of: info)
        case .gap(let gap): self.gap(gap, sequence: fact.sequence, of: fact.device)
        }
    }

    /// A message whose payload is the schema followed by the members that `body` writes.
    func message(
        _ topic: Topic, _ schema: PayloadSchema, capacity: Int = 512, _ body: (inout JSONWriter) -> Void
    ) -> OutgoingMessage {
        var writer = JSONWriter(reservingCapacity: capacity)
        writer.beginObject()
        writer.member("schema", schema.rawValue)
        body(&writer)
        writer.endObject()
        return .json(
            topic: topics.topic(topic), payload: writer.bytes, isRetained: topic.isRetained, expiry: topic.expiry)
    }
}
