import ArgumentParser

/// `plugin`.
struct PluginCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugin", abstract: "Helps authors of plugins.", subcommands: [PluginCheckCommand.self])
}
