extension PoisonMachine.Item {
    /// The next size in bytes to try for its samples; `nil` if smaller messages cannot help.
    var smaller: Int? {
        samples > 1 && size > ShipmentMachine.smallestLimit ? max(ShipmentMachine.smallestLimit, size / 2) : nil
    }
}
