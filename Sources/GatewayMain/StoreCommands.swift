import ArgumentParser
import Gateway

/// Which store: `--config` or `--store`.
struct StoreChoice: ParsableArguments {
    // Nothing else in the configuration is read.
    @OptionGroup var configuration: ConfigurationChoice

    @Option(help: "The store's file, in place of that of a configuration.")
    var store: String?

    func validate() throws {
        if configuration.config != nil, store != nil {
            throw ValidationError("Name the store with either --config or --store.")
        }
    }

    /// Runs a command on the store, and prints its result.
    func run(_ body: (StoreTool) throws -> String) throws {
        do { StandardOutput.write(try body(try tool())) } catch { throw configuration.reported(error) }
    }

    private func tool() throws -> StoreTool {
        if let store { return StoreTool(path: store) }
        return try StoreTool(configuration: configuration.path)
    }
}

/// `backup`.
struct BackupCommand: GatewayCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copies the store to a new file, also while the gateway is running.")

    @OptionGroup var choice: StoreChoice

    @Argument(help: "The new file.")
    var file: String

    func run(with plugins: PluginCatalogue) throws { try choice.run { try $0.back(upTo: file) } }
}

/// `restore`.
struct RestoreCommand: GatewayCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Puts a copy in the place of the store, which is kept beside it. End the gateway before.")

    @OptionGroup var choice: StoreChoice

    @Argument(help: "A file that `backup` has made.")
    var file: String

    func run(with plugins: PluginCatalogue) throws { try choice.run { try $0.restore(file) } }
}

/// `store`.
struct StoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store", abstract: "Inspects the store. The gateway may be running.",
        subcommands: [StoreCheckCommand.self, StoreInfoCommand.self])
}

/// `store check`.
struct StoreCheckCommand: GatewayCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Reads the whole store and says what is damaged. The exit status is 1 then.")

    @OptionGroup var choice: StoreChoice

    func run(with plugins: PluginCatalogue) throws {
        var isSound = false
        try choice.run { tool in
            let result = try tool.check()
            isSound = result.isSound
            return result.text
        }
        if !isSound { throw ExitCode(1) }
    }
}

/// `store info`.
struct StoreInfoCommand: GatewayCommand {
    static let configuration = CommandConfiguration(
        commandName: "info", abstract: "Says what is in the store: its version and size, samples by device and metric.")

    @OptionGroup var choice: StoreChoice

    func run(with plugins: PluginCatalogue) throws { try choice.run { try $0.info() } }
}
