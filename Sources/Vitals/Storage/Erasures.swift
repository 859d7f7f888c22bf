/// Whose samples of a device an erasure concerns.
package enum ErasedPart: Sendable, Hashable {
    /// Those of all who use the device.
    case device
    /// Those of a user slot; `nil`: those without one.
    case user(Int?)
}

/// Since when samples of a device are taken: what was measured before was erased, and an export or a phone may send it again.
package struct Erasures: Sendable, Hashable {
    /// The moment of each part before which nothing of it is taken.
    package var moments: [ErasedPart: Timestamp]

    /// Erasures; none by default.
    package init(_ moments: [ErasedPart: Timestamp] = [:]) { self.moments = moments }

    /// Whether what began at a moment, of a user slot or of none, was erased.
    package func cover(_ start: Timestamp, user: Int?) -> Bool {
        guard !moments.isEmpty else { return false }
        return [moments[.device], moments[.user(user)]].contains { $0.map { start < $0 } ?? false }
    }

    /// Whether something that combines all users, and began at a moment, has a part of what was erased.
    package func touch(_ start: Timestamp) -> Bool { moments.values.contains { start < $0 } }
}

extension Wearers {
    /// The part of a device's samples that is a person's, empty if none is. A device without user slots in its configuration is the
    /// person's as a whole: also what is in a slot was measured by nobody else.
    package func parts(of person: String) -> Set<ErasedPart> {
        if people.isEmpty { return self.person == person ? [.device] : [] }
        var parts = Set(people.filter { $0.value == person }.keys.map { ErasedPart.user($0) })
        if self.person == person { parts.insert(.user(nil)) }
        return parts
    }
}
