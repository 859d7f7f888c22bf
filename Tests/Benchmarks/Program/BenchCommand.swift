import ArgumentParser

/// The benchmark's program. It sees the gateway only from outside: as a process, through a device and a subscriber.
@main
struct BenchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vitals2mqtt-bench",
        abstract: "Measures the gateway from outside, beside bare loops of what it is made of.",
        subcommands: [RunCommand.self, FeedCommand.self], defaultSubcommand: RunCommand.self)
}
