package import Engines
package import GatewayKit
package import Vitals

/// An entry of `devices:`.
package struct DeviceConfiguration: Sendable {
    /// `id` (required: 1 to 64 of `a-z`, `0-9`, `_`, `-`; not `gateway`), `name` (default: the id), `person` (who wears it),
    /// `people` (`{1: anna, 2: ben}`, by the user slots of a device that several use) or `persons` (a list of `name`, `slot` and usual
    /// values, with `guests`, of a device that does not say whose a sample is), and the names of driver and transport.
    package var info: DeviceInfo
    /// `sync`, `alerts`, `fresh_for` and `offline_after`, which override the gateway's, and `from` (a date: what was measured before is
    /// refused; default: none).
    package var policy: DevicePolicy
    /// `driver`: communicates with the device; made from `options`. Required.
    package var driver: any DeviceDriver
    /// `transport`: connects to the device; made from its keys beside `type`. Required if the driver needs a link,
    /// otherwise `nil`.
    package var transport: (any Transport)?
    /// The names under `plugins:` of what the driver and the transport share with other devices.
    package var serviceNames: [String]
    /// The entry as written in the file.
    package var source: ConfigurationValue
    /// The file of `devices_from` in which it is written; `nil` in the configuration file.
    package var file: String?
    /// The content of the files and variables that it names.
    package var contents: [Secret]

    /// Its driver, if that takes messages of the broker itself.
    var messages: (any MessageDriver)? { driver as? any MessageDriver }
    /// What devices are made of, if it is none itself.
    var template: MessageTemplate? { messages?.template }

    /// Changes with everything that concerns the device, in its entry, in the files that it names, or in the gateway's
    /// defaults, but not with lines, comments or other devices. Comparable within one run of the program.
    package var fingerprint: Int {
        var hasher = Hasher()
        hasher.combine(source.withoutLines)
        hasher.combine(contents)
        policy.hash(into: &hasher)
        return hasher.finalize()
    }
}

extension DeviceConfiguration {
    /// Reads an entry of `devices:` with this `id`; `nil` if an error leaves no device.
    init?(
        _ reader: inout ConfigurationReader, id: DeviceID?, source: ConfigurationValue, defaults: DevicePolicy,
        _ plugins: PluginCatalogue
    ) {
        let name = reader.name("name", default: "the id", about: "Its display name.") ?? id?.text ?? ""
        let persons = reader.wearers()
        var policy = DevicePolicy(&reader, defaults: defaults)
        policy.from = reader.from("from", in: policy.calendar)
        policy.attribution = persons.attribution
        let parts = reader.driver(plugins)
        guard let id, let parts else { return nil }
        var info = DeviceInfo(
            id: id, name: name, person: persons.wearers.person, people: persons.wearers.people,
            driver: type(of: parts.driver).name,
            transport: parts.transport.map { type(of: $0).name }, freshness: policy.freshness)
        info.asksWhose = persons.attribution != nil
        info.asksForPasskey = parts.transport?.asksForPasskey ?? false
        self.init(
            info: info, policy: policy, driver: parts.driver, transport: parts.transport,
            serviceNames: [parts.driver.service, parts.transport?.service].compactMap { service in
                service.flatMap { plugins.name(of: $0) }
            }, source: source, file: reader.place.part, contents: reader.contents)
    }
}

extension ConfigurationReader {
    /// A required identifier of a device or, with a default, of the gateway.
    mutating func deviceID(_ key: String, default: DeviceID? = nil) -> DeviceID? {
        describe(
            key, "1 to \(DeviceID.maximumLength) of a-z, 0-9, _ and -",
            default: `default`?.text ?? KeyDescription.required,
            about: "The name in topics; it should never change, and reveal nothing about a person.")
        if isDescribing { return `default` }
        if `default` != nil, value(key) == nil { return `default` }
        let text = string(key)
        if text.isEmpty { return nil }
        if text == DeviceID.reserved {
            report("\(text) is the gateway's own place in the topics; choose another id.", at: key)
            return nil
        }
        guard let id = DeviceID(text) else {
            report("An id has 1 to \(DeviceID.maximumLength) of a-z, 0-9, _ and -, such as ring-1.", at: key)
            return nil
        }
        return id
    }

    /// The name of a device or a person: one line.
    mutating func name(_ key: String, default: String = KeyDescription.none, about: String = "") -> String? {
        let name = optionalString(key)
        describe(
            key, "one line of at most \(ConfigurationLimits.nameLength) characters", default: `default`, about: about)
        guard let text = name else { return nil }
        if text.count > ConfigurationLimits.nameLength || text.unicodeScalars.contains(where: \.isControl) {
            report("One line of at most \(ConfigurationLimits.nameLength) characters is needed here.", at: key)
        }
        return text
    }

    /// `from:`, a local day.
    fileprivate mutating func from(_ key: String, in calendar: LocalCalendar) -> Timestamp? {
        let text = optionalString(key)
        let about = "What was measured before this local day is refused; what was erased is taken again from it on."
        describe(key, "date", about: about)
        guard let text else { return nil }
        guard let day = LocalDay(text) else {
            report("A date is needed here, such as 2026-05-14.", at: key)
            return nil
        }
        return calendar.bounds(of: day).lowerBound
    }

    /// `people:`, by user slots.
    mutating func people(_ key: String) -> [Int: String] {
        let about =
            "Names by the device's user slots, such as {1: anna, 2: ben}; at most \(ConfigurationLimits.people)."
        defer { describe(key, "names by user slot", about: about) }
        return section(key) { people in
            var names: [Int: String] = [:]
            if people.keys.count > ConfigurationLimits.people {
                people.report("At most \(ConfigurationLimits.people) people can share a device.")
            }
            for slot in people.keys {
                let name = people.name(slot)
                guard let number = Int(slot), number >= 0 else {
                    people.report(
                        "A user slot is a number, as the device numbers its users: {1: anna, 2: ben}.", at: slot)
                    continue
                }
                names[number] = name
            }
            return names
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isControl: Bool { properties.generalCategory == .control }
}
