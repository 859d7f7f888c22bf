import Contract
import GatewayKit
import HTTPTypes
import JSON
import Vitals

/// Server-sent events (HTML Living Standard, 9.2): at first all states, then what changes.
///
/// Each event has a topic below that of its device, and the payload that MQTT would get. Of changes that come faster than the stream is
/// written there is the newest of each state; edges of alerts are all there.
struct EventStream: Sendable {
    /// The pause after each part: so often a stream is woken at most, however fast values come.
    static let pause: Duration = .milliseconds(500)
    /// How often a silent stream sends a comment, so that both ends notice a broken connection. Proxies wait a minute or more.
    static let heartbeat: Duration = .seconds(15)
    /// How long a stream lasts: a client that comes back goes on where it was.
    static let longest: Duration = .hours(1)
    /// The longest `Last-Event-ID` that is read: the gateway's own have half of it.
    static let maximumID = 64

    let api: API
    let access: API.Access
    let call: APICall

    private var hub: EventHub { api.sources.events }

    /// Writes until the client leaves, the stream is old, or the request may no longer be answered.
    func run(_ write: WebAnswer.Writer) async throws {
        let clock = api.sources.clock
        let end = clock.uptime + Self.longest
        var place = place(of: call.request.headers[.lastEventID])
        while clock.uptime < end, api.isCurrent(access) {
            if let known = place, let events = hub.events(after: known) {
                let devices = await devices
                // What it may not see hides nothing that it may, at a device for several.
                let part = Self.newest(of: events.filter { isFor($0, devices) }).flatMap { bytes(of: $0, devices) }
                if !part.isEmpty { try await write(part) }
                place = events.last?.number ?? known
            } else {
                // What changes meanwhile comes once more.
                let newest = hub.newest
                try await write(await everything(until: newest))
                place = newest
            }
            try await clock.sleep(for: Self.pause)
            let known = place ?? 0
            let hasCome = await clock.withTimeout(Self.heartbeat) { [hub] in await hub.wait(after: known) } != nil
            if !hasCome { try await write(Array(": \n\n".utf8)) }
        }
    }

    /// The number that a client names; `nil` if it is none of this run.
    private func place(of id: String?) -> Int64? {
        guard let id, id.utf8.count <= Self.maximumID else { return nil }
        let parts = id.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == hub.run, let number = Int64(parts[1]), number >= 0 else { return nil }
        return number
    }

    /// The devices that are followed.
    private var devices: [DeviceID: ConfiguredDevice] {
        get async {
            let chosen = await api.sources.reader.devices.filter { device in
                call.shows(device) && (call.query[.device] == nil || call.query[.device] == device.id.text)
            }
            return Dictionary(chosen.map { ($0.id, $0) }) { first, _ in first }
        }
    }

    /// Without states that a later one replaces.
    private static func newest(of events: [EventHub.Event]) -> [EventHub.Event] {
        struct Place: Hashable {
            var device: DeviceID
            var part: DeviceState.Part
        }
        var seen: Set<Place> = []
        return events.reversed().filter { event in
            guard case .state(let state) = event.content else { return true }
            return seen.insert(Place(device: event.device, part: state.part)).inserted
        }.reversed()
    }

    private func isFor(_ event: EventHub.Event, _ devices: [DeviceID: ConfiguredDevice]) -> Bool {
        devices[event.device].map { call.grant.sees(event, of: $0, person: call.query[.person]) } ?? false
    }

    private func bytes(of event: EventHub.Event, _ devices: [DeviceID: ConfiguredDevice]) -> [UInt8] {
        guard let device = devices[event.device] else { return [] }
        let sources = api.sources
        return event.bytes { event in
            var encoder = sources.encoder
            let now = sources.clock.now
            let id = "\(hub.run)-\(event.number)"
            switch event.content {
            case .state(let state):
                let value = encoder.value(of: state, device: device.id, info: device.info, now: now)
                return Self.frame("state", id: id, device.id, value)
            case .fact(let fact):
                return Self.frame("alert", id: id, device.id, encoder.value(of: fact, info: device.info, now: now))
            }
        }
    }

    /// All states, between `reset` and `ready`.
    private func everything(until number: Int64) async -> [UInt8] {
        var bytes = Array("event: reset\ndata: {}\n\n".utf8)
        let sources = api.sources
        var encoder = sources.encoder
        let now = sources.clock.now
        for device in await devices.values.sorted(by: { $0.id < $1.id }) {
            for state in await sources.reader.states(of: device.id) {
                let event = EventHub.Event(number: 0, device: device.id, content: .state(state))
                guard call.grant.sees(event, of: device, person: call.query[.person]) else { continue }
                let value = encoder.value(of: state, device: device.id, info: device.info, now: now)
                bytes += Self.frame("state", id: nil, device.id, value)
            }
        }
        return bytes + Array("event: ready\nid: \(hub.run)-\(number)\ndata: {}\n\n".utf8)
    }

    /// An event: JSON has no line feed, so `data` is one line.
    private static func frame(
        _ name: String, id: String?, _ device: DeviceID, _ value: ContractEncoder.Value
    ) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: value.payload.count + 128)
        writer.beginObject()
        writer.member("device", device.text)
        writer.member("topic", value.topic)
        writer.key("payload")
        writer.raw(bytes: value.payload)
        writer.endObject()
        let head = "event: \(name)\n" + (id.map { "id: \($0)\n" } ?? "") + "data: "
        return Array(head.utf8) + writer.bytes + Array("\n\n".utf8)
    }
}

extension APIPage {
    /// The events of the devices that the request may see.
    func events(_ call: APICall) async throws(APIError) -> WebAnswer {
        let accept = call.request.headers[.accept]?.lowercased() ?? ""
        guard accept.isEmpty || ["text/event-stream", "text/*", "*/*"].contains(where: accept.contains) else {
            throw APIError(406, "not_acceptable", "Events are text/event-stream.")
        }
        // A wrong name would be a stream that stays empty.
        if let id = call.query[.device] { _ = try await device(id, for: call.grant) }
        let stream = EventStream(api: api, access: access, call: call)
        var answer = WebAnswer("text/event-stream") { try await stream.run($0) }
        answer.headers = [(name: "Cache-Control", value: "no-store"), (name: "X-Accel-Buffering", value: "no")]
        return answer
    }
}

extension HTTPField.Name {
    /// The last event that a client got, when it comes back.
    fileprivate static let lastEventID = HTTPField.Name("Last-Event-ID") ?? .origin
}
