/// How a room that several owners share is used, so that none takes more than it leaves to the others.
///
/// An owner may have as much as is free. So one alone gets half of the room, two get a third each, and whoever has nothing finds a
/// place as long as there is any.
package struct FairShares: Sendable {
    /// What all owners have.
    package private(set) var used = 0
    /// What each owner has, but for those that have nothing.
    private var shares: [String: Int] = [:]

    package init() {}

    /// Whether an owner may have this much more of a room. What has no owner may fill it.
    package func fits(_ size: Int, of owner: String?, in room: Int) -> Bool {
        let share = owner.flatMap { shares[$0] } ?? 0
        return share + size <= room - used
    }

    /// Gives an owner this much more, whether it fits or not.
    package mutating func add(_ size: Int, of owner: String?) {
        used += size
        guard let owner else { return }
        let share = shares[owner, default: 0] + size
        shares[owner] = share == 0 ? nil : share
    }

    /// Takes this much from an owner.
    package mutating func remove(_ size: Int, of owner: String?) { add(-size, of: owner) }
}
