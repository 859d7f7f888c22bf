import GatewayKit
import Vitals

/// Decides which devices the messages of a template's topics bring: each part that the level captures is one of its own, up to a limit. It
/// opens and writes nothing.
struct CapturedDevices: Sendable, Hashable {
    /// The most devices of a template: as many as a house has. As many further parts are named.
    static let maximum = 100

    /// What a message asks for.
    enum Decision: Sendable, Hashable {
        /// Nothing: its device is there or is not wanted, or the part has been named.
        case nothing
        /// A device for this part.
        case device(id: DeviceID, part: String)
        /// There is no room for this part, which was not named before.
        case tooMany(part: String)
        /// Its device was removed while the gateway ran.
        case removed(part: String)
        /// It can be no name.
        case unusable(part: String)
    }

    /// A part, equal only to the same bytes as for the broker: texts are equal in each form of Unicode.
    private struct Part: Sendable, Hashable {
        let bytes: [UInt8]
        init(_ text: String) { bytes = Array(text.utf8) }
    }

    private let captures: [MessageTemplate.Capture]
    private let except: Set<String>
    private let limit: Int
    /// Those that have a device in the configuration.
    private let parts: Set<Part>
    private let ids: [DeviceID]
    /// Those for which a device was made that no configuration has had yet.
    private var made: [Part: DeviceID] = [:]
    /// Those whose device is not in the configuration any more.
    private var removed: Set<Part> = []
    private var named: Set<Part> = []

    /// - Parameters:
    ///   - captures: the topics.
    ///   - except: the parts that get no device, in any form of Unicode: a person cannot see it.
    ///   - parts: those that have a device.
    ///   - devices: the ids that are taken.
    ///   - earlier: what was before a change of the configuration.
    init(
        _ captures: [MessageTemplate.Capture], except: Set<String> = [], parts: [String],
        beside devices: [DeviceID], after earlier: CapturedDevices? = nil, limit: Int = Self.maximum
    ) {
        let parts = Set(parts.map { Part($0) })
        (self.captures, self.except, self.limit, self.parts, ids) = (captures, except, limit, parts, devices)
        guard let earlier, earlier.captures == captures else { return }
        made = earlier.made.filter { !parts.contains($0.key) }
        removed = earlier.removed.union(earlier.parts).subtracting(parts)
        named = earlier.named
    }

    /// The part that a topic names; `nil` if it is none of these topics.
    func part(of topic: String) -> String? {
        captures.lazy.compactMap { $0.filter.matches(topic) ? $0.part(of: topic) : nil }.first
    }

    /// Whether the part has a device, or gets it in a moment.
    func isExpected(_ part: String) -> Bool { parts.contains(Part(part)) || made[Part(part)] != nil }

    /// Decides about the message of a topic, and remembers the part.
    mutating func decide(_ topic: String) -> Decision {
        guard let part = part(of: topic), !isExpected(part), !except.contains(part) else { return .nothing }
        if removed.contains(Part(part)) { return name(part, .removed(part: part)) }
        guard part.count <= ConfigurationLimits.nameLength, part == part.printable else {
            return name(part, .unusable(part: part))
        }
        guard parts.count + made.count < limit,
            let id = DeviceID(NewDevice.suggestedID(for: part, beside: ids + made.values))
        else { return name(part, .tooMany(part: part)) }
        made[Part(part)] = id
        return .device(id: id, part: part)
    }

    /// Takes a decision back: the device could not be made.
    mutating func undo(_ part: String) { made[Part(part)] = nil }

    private mutating func name(_ part: String, _ decision: Decision) -> Decision {
        named.count < Self.maximum && named.insert(Part(part)).inserted ? decision : .nothing
    }
}
