import JSON
package import MQTT
package import Vitals

extension ContractEncoder {
    /// The most bytes of an answer's `data`, so that small brokers and clients accept it.
    package static let maximumAnswerData = 200 * 1024

    /// Encodes the answer to a command, addressed as its sender requested.
    /// - Parameters:
    ///   - info: the device concerned, for the persons of samples; `nil` if unknown.
    ///   - isDeviceKnown: whether the device is configured; the gateway never publishes to the topics of any other
    ///     device.
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
        writer.member("data", answer.data) { write($1, about: info, to: &$0) }
        writer.member("at", now)
        writer.endObject()
        return .answer(
            topic: answerTopic(for: envelope, isDeviceKnown: isDeviceKnown), payload: writer.bytes,
            correlation: envelope.correlation)
    }

    /// The topic for the answer to a command; empty if a caller of this process gets it.
    package func answerTopic(for envelope: CommandEnvelope, isDeviceKnown: Bool = true) -> String {
        if envelope.caller != nil { return "" }
        if let topic = envelope.responseTopic { return topic }
        if let device = envelope.device, isDeviceKnown { return topics.topic(.response(device)) }
        return topics.topic(.gatewayResponse)
    }

    /// How many of these samples one page of an answer takes. At least one: a single sample that is too large, such as
    /// a sleep of thousands of stages, is sent all the same.
    package mutating func samplesPerAnswer(_ samples: [StoredSample], of info: DeviceInfo?) -> Int {
        fitting(samples) { encoder, stored, writer in
            encoder.write(stored, person: { info?.person(user: $0) }, to: &writer)
        }
    }

    private mutating func write(_ data: Answer.Data, about info: DeviceInfo?, to writer: inout JSONWriter) {
        let person: (Int?) -> String? = { info?.person(user: $0) }
        writer.beginObject()
        switch data {
        case .sync(let state): writer.members(of: state)
        case .devices(let answers): writer.member("devices") { $0.members(of: answers) }
        case .samples(let samples, let metric, let next):
            writer.member("metric", metric.rawValue)
            writer.member("samples", array: samples) { write($1, person: person, to: &$0) }
            writer.member("next", next)
        case .days(let days):
            write(days, day: \.summary.day, to: &writer) { encoder, record, writer in
                encoder.write(record, sequence: nil, to: &writer)
            }
        case .itemisedDays(let days):
            write(days, day: \.record.summary.day, to: &writer) { encoder, day, writer in
                encoder.write(day.record, sequence: nil, items: day, of: info, to: &writer)
            }
        case .measurement(let stored): writer.member("sample", stored) { write($1, person: person, to: &$0) }
        case .settings(let settings, let metrics): writer.members(of: settings.values, metrics: metrics)
        case .clock(let skew): writer.member("clock_skew_s", skew)
        case .replayed(let count): writer.member("replayed", count)
        case .version(let version, let pending):
            writer.member("version", version)
            writer.member("pending", texts: pending.map(\.path).sorted())
        case .acknowledged(let first):
            writer.member("acknowledged_by", first.person)
            writer.member("acknowledged_at", first.at)
        case .nearby(let report):
            let count = fitting(report.devices) { _, device, writer in writer.element(device) }
            var listed = report
            listed.devices = Array(report.devices.prefix(count))
            listed.skipped += report.devices.count - count
            writer.members(of: listed)
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

    /// Writes as many days as fit; `next` is the `from_day` for the following request.
    private mutating func write<Day>(
        _ days: [Day], day: (Day) -> LocalDay, to writer: inout JSONWriter,
        _ write: (inout Self, Day, inout JSONWriter) -> Void
    ) {
        let count = fitting(days, write)
        writer.member("days", array: days.prefix(count)) { write(&self, $1, &$0) }
        writer.member("next", days.dropFirst(count).first.map { day($0).description })
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

extension JSONWriter {
    /// Writes the result of each device's synchronisation. The results by metric are on the device's `sync` topic.
    fileprivate mutating func members(of answers: [DeviceID: Answer]) {
        for (device, answer) in answers.sorted(by: { $0.key < $1.key }) {
            key(escaping: device.text)
            beginObject()
            member("status", answer.status.rawValue)
            member("code", answer.code?.rawValue)
            member("message", answer.message)
            if case .sync(let state) = answer.data {
                member("samples_new", state.samplesNew)
                member("samples_known", state.samplesKnown)
            }
            endObject()
        }
    }
}
