import Vitals

/// Decides which devices the messages of a topic with `{device}` bring that no entry of the configuration takes: each part that the level
/// captures is one of its own, up to a limit. It opens and writes nothing.
struct CapturedDevices: Sendable, Hashable {
    /// The most devices of a topic: as many as a house has. As many further ones are named.
    static let maximum = 100

    /// What a message asks for.
    enum Decision: Sendable, Hashable {
        /// Nothing: its device is there, or has been named.
        case nothing
        /// A device for this part.
        case device(id: DeviceID, part: String)
        /// There is no room for this part, which was not named before.
        case tooMany(part: String)
    }

    private let filter: TopicFilter
    /// Which level of a topic names the device.
    private let level: Int
    private var parts: Set<String>
    private var ids: [DeviceID]
    private var named: Set<String> = []

    /// - Parameters:
    ///   - filter: the topic, with `+` for the level that names the device.
    ///   - level: the place of that level, from 0.
    ///   - parts: those that have a device.
    ///   - devices: the ids that are taken.
    init(_ filter: TopicFilter, level: Int, parts: Set<String>, beside devices: [DeviceID]) {
        (self.filter, self.level, self.parts, ids) = (filter, level, parts, devices)
    }

    /// Decides about the message of a topic, and remembers the part.
    mutating func decide(_ topic: String) -> Decision {
        let levels = topic.split(separator: "/", omittingEmptySubsequences: false)
        guard filter.matches(topic), levels.indices.contains(level), !levels[level].isEmpty else { return .nothing }
        let part = String(levels[level])
        guard !parts.contains(part), !named.contains(part) else { return .nothing }
        guard parts.count < Self.maximum, let id = DeviceID(NewDevice.suggestedID(for: part, beside: ids)) else {
            return named.count < Self.maximum && named.insert(part).inserted ? .tooMany(part: part) : .nothing
        }
        parts.insert(part)
        ids.append(id)
        return .device(id: id, part: part)
    }
}
