import Contract
import JSON
import Vitals

extension APIPage {
    /// The devices that the request may see, in the order of the configuration.
    func devices(_ call: APICall) async throws(APIError) -> WebAnswer {
        _ = try call.format()
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("devices")
        writer.beginArray()
        for device in await sources.reader.devices where call.shows(device) {
            writer.beginObject()
            writer.members(of: device, to: call.grant)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return .json(200, writer)
    }

    /// A device with its states, by their topics below that of the device.
    func device(_ device: ConfiguredDevice, _ call: APICall) async throws(APIError) -> WebAnswer {
        _ = try call.format()
        var encoder = sources.encoder
        let now = sources.clock.now
        var writer = JSONWriter(reservingCapacity: 8 << 10)
        writer.beginObject()
        writer.members(of: device, to: call.grant)
        writer.key("states")
        writer.beginObject()
        for state in await sources.reader.states(of: device.id) where call.grant.sees(state, of: device) {
            let value = encoder.value(of: state, device: device.id, info: device.info, now: now)
            writer.key(escaping: value.topic)
            writer.raw(bytes: value.payload)
        }
        writer.endObject()
        writer.endObject()
        return .json(200, writer)
    }
}

extension APICall {
    /// Whether a device is asked for, and may be seen.
    func shows(_ device: ConfiguredDevice) -> Bool {
        guard grant.sees(device) else { return false }
        guard let person = query[.person] else { return true }
        return grant.sees(person: person) && (device.person == person || device.people.values.contains(person))
    }
}

extension ConfiguredDevice {
    /// Enough of its `info` to find the person of a sample.
    var info: DeviceInfo { DeviceInfo(id: id, name: name, person: person, people: people, driver: driver) }
}

extension JSONWriter {
    /// What the configuration says of a device, with the persons whom a request may see.
    fileprivate mutating func members(of device: ConfiguredDevice, to grant: APIGrant) {
        member("device", device.id.text)
        member("name", device.name)
        member("person", grant.sees(person: device.person) ? device.person : nil)
        member("people") { writer in
            for (slot, name) in device.people.sorted(by: { $0.key < $1.key }) where grant.sees(person: name) {
                writer.key(escaping: String(slot))
                writer.string(name)
            }
        }
        member("driver", device.driver)
    }
}
