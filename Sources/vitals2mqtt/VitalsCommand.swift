import ArgumentParser
import BundledPlugins
import Gateway

/// `vitals2mqtt`, the command line.
@main
struct VitalsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vitals2mqtt",
        abstract: "A gateway for health wearables: devices, SQLite, MQTT, Home Assistant.",
        discussion: "Exit status: 0, or 64 (usage), 78 (configuration), 70 (internal).",
        version: GatewayVersion.current,
        subcommands: [RunCommand.self, CheckConfigCommand.self, PluginsCommand.self, DemoCommand.self])

    /// The plugins that are compiled in.
    /// - Throws: an exit with status 70 where they do not fit together, which tests exclude.
    static func catalogue() throws -> PluginCatalogue {
        do throws(PluginCatalogueError) {
            return try PluginCatalogue(BundledPlugins.all)
        } catch {
            StandardError.write("\(error)\n")
            throw ExitCode(ExitStatus.internal.rawValue)
        }
    }
}
