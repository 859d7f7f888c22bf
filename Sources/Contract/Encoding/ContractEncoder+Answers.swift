import JSON
package import Vitals

extension ContractEncoder {
    /// Bytes that the `data` of an answer may have, so that small brokers and clients take it.
    package static let maximumAnswerData = 200 * 1024

    /// Encodes an answer of a command, to where its sender wants it.
    /// - Parameters:
    ///   - info: the device that it is about, for the people of samples; `nil` where it is not known.
    ///   - isDeviceKnown: whether the device is one of ours; the topics of one that is not are never published to.
    package mutating func answer(
        _ answer: Answer, to envelope: CommandEnvelope, about info: DeviceInfo?, at now: Timestamp,
        isDeviceKnown: Bool = true
    ) -> OutgoingMessage {
        var writer = JSONWriter(reservingCapacity: 512)
        writer.beginObject()
        writer.member("schema", PayloadSchema.response.rawValue)
        writer.member("id", envelope.id)
        writer.member("command", envelope.command)
        writer.member("device", envelope.device?.text)
        writer.member("status", answer.status.rawValue)
        writer.member("code", answer.code?.rawValue)
        writer.member("message", answer.message)
        writer.member("violations", array: answer.violations) { writer, violation in
            writer.beginObject()
            writer.member("path", violation.path)
            writer.member("code", violation.code.rawValue)
            writer.member("message", violation.message)
            writer.endObject()
        }
        writer.key("data")
        if let data = answer.data { write(data, about: info, to: &writer) } else { writer.null() }
        writer.member("at", now)
        writer.endObject()
        return .answer(
            topic: answerTopic(for: envelope, isDeviceKnown: isDeviceKnown), payload: writer.bytes,
            correlation: envelope.correlation)
    }

    /// Where the answer of a command goes.
    package func answerTopic(for envelope: CommandEnvelope, isDeviceKnown: Bool = true) -> String {
        if let topic = envelope.responseTopic { return topic }
        if let device = envelope.device, isDeviceKnown { return topics.topic(.response(device)) }
        return topics.topic(.gatewayResponse)
    }

    /// How many of these samples one answer takes, at least one: the page ends there. A single one that is too great, such
    /// as a sleep of thousands of stages, is sent nevertheless, since there is no smaller page.
    package mutating func samplesPerAnswer(_ samples: [StoredSample], of info: DeviceInfo?) -> Int {
        fitting(samples) { encoder, stored, writer in
            encoder.write(stored, person: { info?.person(user: $0) }, to: &writer)
        }
    }

    private mutating func write(_ data: Answer.Data, about info: DeviceInfo?, to writer: inout JSONWriter) {
        writer.beginObject()
        switch data {
        case .sync(let new, let known, let failed):
            writer.member("samples_new", new)
            writer.member("samples_known", known)
            writer.member("failed", failures: failed)
        case .samples(let samples, let metric, let next):
            writer.member("metric", metric.rawValue)
            writer.key("samples")
            writer.beginArray()
            for stored in samples { write(stored, person: { info?.person(user: $0) }, to: &writer) }
            writer.endArray()
            writer.member("next", next)
        case .days(let days): write(days, to: &writer)
        case .measurement(let stored):
            writer.key("sample")
            if let stored {
                write(stored, person: { info?.person(user: $0) }, to: &writer)
            } else {
                writer.null()
            }
        case .settings(let settings, let metrics): writer.members(of: settings, metrics: metrics)
        case .clock(let skew): writer.member("clock_skew_s", skew)
        case .replayed(let count): writer.member("replayed", count)
        case .version(let version): writer.member("version", version)
        case .names(let names):
            for (kind, list) in names.sorted(by: { $0.key < $1.key }) {
                writer.key(escaping: kind)
                writer.beginArray()
                for name in list { writer.string(name) }
                writer.endArray()
            }
        }
        writer.endObject()
    }

    /// Writes as many days as fit; `next` is the day with which the sender goes on, as `from_day`.
    private mutating func write(_ days: [DayRecord], to writer: inout JSONWriter) {
        let count = fitting(days) { encoder, record, writer in encoder.write(record, sequence: nil, to: &writer) }
        writer.key("days")
        writer.beginArray()
        for record in days.prefix(count) { write(record, sequence: nil, to: &writer) }
        writer.endArray()
        writer.member("next", days.dropFirst(count).first?.summary.day.description)
    }

    private mutating func fitting<Element>(
        _ elements: [Element], _ write: (inout Self, Element, inout JSONWriter) -> Void
    ) -> Int {
        let frame = 128  // the braces, the other keys and the next page's name
        var writer = JSONWriter(reservingCapacity: Self.maximumAnswerData)
        for (position, element) in elements.enumerated() {
            write(&self, element, &writer)
            if writer.bytes.count + frame > Self.maximumAnswerData { return max(position, 1) }
        }
        return elements.count
    }
}
