import ArgumentParser
import Foundation
import Gateway

/// The commands, under the name of the program.
struct RootCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: ProcessInfo.processInfo.processName,
        abstract: "A gateway for health wearables: devices, SQLite, MQTT, Home Assistant.",
        discussion: """
            Exit status: 0, or 64 (usage), 78 (configuration), 70 (internal), 75 (the stop took too long); `sources`, `scan`, `add`, \
            `remove`, `dashboard`, `doctor`, `health`, `export`, `erase`, \
            `plugin check`, `web-password` and the commands of the store also 1 (failed).
            """,
        version: GatewayVersion.current,
        subcommands: [
            RunCommand.self, CheckConfigCommand.self, ConfigReferenceCommand.self, DoctorCommand.self,
            HealthCommand.self,
            PluginsCommand.self,
            PluginCommand.self, SourcesCommand.self, ScanCommand.self, AddCommand.self, RemoveCommand.self,
            DashboardCommand.self, DemoCommand.self, WebPasswordCommand.self,
            ExportCommand.self, EraseCommand.self, BackupCommand.self, RestoreCommand.self, StoreCommand.self,
        ])
}

/// A command that uses the program's plugins.
protocol GatewayCommand: ParsableCommand {
    /// Runs the command.
    /// - Throws: an `ExitCode` for any status but 0.
    func run(with plugins: PluginCatalogue) async throws
}

extension ExitStatus {
    /// The same as `ExitCode`, for the command-line parser.
    var code: ExitCode { ExitCode(rawValue) }
}
