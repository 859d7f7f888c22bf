/// The people whom a device's samples belong to, by its configuration.
package struct Wearers: Sendable, Hashable {
    /// The person of samples without a user slot.
    package var person: String?
    /// The persons of samples with a user slot.
    package var people: [Int: String]

    /// The wearers of a device; by default it has no named one.
    package init(person: String? = nil, people: [Int: String] = [:]) {
        self.person = person
        self.people = people
    }

    /// The person of a sample with this user slot. An unassigned slot has no person: a guest's values must not
    /// count as the owner's.
    package func person(user: Int?) -> String? {
        if let user { people[user] } else { person }
    }

    /// Whether two user slots, or a slot and none, stand for the same person. Two slots without a name do not.
    package func areSame(_ user: Int?, _ other: Int?) -> Bool {
        guard user != other else { return true }
        guard let name = person(user: user) else { return false }
        return name == person(user: other)
    }
}
