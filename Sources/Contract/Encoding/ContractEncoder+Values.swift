package import JSON
package import MQTT
package import Vitals

/// What states and facts look like where there are no topics, such as in the API: with the members that they have at the broker.
extension ContractEncoder {
    /// A message about a device for others than a broker.
    package struct Value: Sendable, Hashable {
        /// Its topic below that of the device, such as `latest/heart_rate`.
        package var topic: String
        /// Its payload as JSON.
        package var payload: [UInt8]
    }

    /// A part of a device's state.
    package mutating func state(
        _ state: DeviceState, of device: DeviceID, info: DeviceInfo?, now: Timestamp
    ) -> OutgoingMessage {
        switch state {
        case .info(let info): self.info(info)
        case .availability(let isOnline): availability(isOnline, of: device)
        case .link(let state): link(state, of: device)
        case .latest(let state):
            latest(state, of: device, person: info?.person(user: state.stored.sample.user), now: now)
        case .today(let record): today(record, of: device)
        case .level(let level): self.level(level, of: device, person: info?.person(user: level.user))
        case .config(let state): config(state, of: device)
        case .sync(let state): sync(state, of: device)
        case .measure(let state): measure(state, of: device)
        case .wear(let state): wear(state, of: device)
        case .pairing(let state): pairing(state, of: device)
        case .whose(let state): whose(state, of: device, info: info)
        }
    }

    /// A part of a device's state.
    package mutating func value(
        of state: DeviceState, device: DeviceID, info: DeviceInfo?, now: Timestamp
    ) -> Value {
        let message = self.state(state, of: device, info: info, now: now)
        var value = self.value(of: message, device: device)
        if case .availability = state {
            var writer = JSONWriter()
            writer.string(String(decoding: value.payload, as: UTF8.self))
            value.payload = writer.bytes
        }
        return value
    }

    /// A fact.
    package mutating func value(of fact: Fact, info: DeviceInfo?, now: Timestamp) -> Value {
        let info = info ?? DeviceInfo(id: fact.device, name: fact.device.text, driver: "")
        let message = self.fact(fact, info: info, publishedAt: now)
        return self.value(of: message, device: fact.device)
    }

    private func value(of message: OutgoingMessage, device: DeviceID) -> Value {
        let place = "\(topics.root)/\(device.text)/"
        return Value(topic: String(message.topic.dropFirst(place.count)), payload: message.payload)
    }

    /// Writes a day as an object of its own, with its device.
    package mutating func line(of record: DayRecord, device: DeviceID, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("device", device.text)
        members(of: record, sequence: nil, to: &writer)
        writer.endObject()
    }

    /// Writes an edge of an alert as an object of its own, with its device.
    package func line(of event: AlertEvent, device: DeviceID, person: String?, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("device", device.text)
        members(of: event, person: person, to: &writer)
        writer.member("acknowledged_by", event.acknowledgement?.person)
        writer.member("acknowledged_at", event.acknowledgement?.at)
        writer.endObject()
    }
}
