extension PoisonMessageSplitter.Item {
    /// The next size in bytes to try for its samples; `nil` if smaller messages cannot help.
    var smaller: Int? {
        samples > 1 && size > PublishMachine.smallestLimit ? max(PublishMachine.smallestLimit, size / 2) : nil
    }
}
