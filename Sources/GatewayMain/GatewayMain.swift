import ArgumentParser
import BundledPlugins
import Gateway
public import GatewayKit

/// The command line of a gateway: everything that `vitals2mqtt` can do, with plugins of your choice.
///
///     import GatewayMain
///     import Pulse
///
///     @main enum PulseGateway {
///         static func main() async {
///             await GatewayMain(plugins: GatewayMain.bundledPlugins + [PulsePlugin.self]).run()
///         }
///     }
public struct GatewayMain: Sendable {
    /// The plugins of `vitals2mqtt` itself, in the order of its list.
    public static let bundledPlugins = BundledPlugins.all

    private let plugins: [any Plugin.Type]

    /// A gateway with these plugins. The names of their drivers must be unique, and so must those of their transports.
    public init(plugins: [any Plugin.Type]) { self.plugins = plugins }

    /// Runs the command in the program's arguments, and ends the program with its status: 0, or 64 (usage), 78
    /// (configuration), 70 (internal, for example if two plugins use one name), 75 (the stop took too long). Call it
    /// once, before anything else.
    public func run() async -> Never {
        do {
            var command = try RootCommand.parseAsRoot()
            if let command = command as? any GatewayCommand {
                try await command.run(with: catalogue())
            } else {
                try command.run()
            }
        } catch {
            RootCommand.exit(withError: error)
        }
        RootCommand.exit()
    }

    private func catalogue() throws -> PluginCatalogue {
        do throws(PluginCatalogueError) {
            return try PluginCatalogue(plugins, unavailable: BundledPlugins.unavailable)
        } catch {
            StandardError.write("\(error)\n")
            throw ExitStatus.internal.code
        }
    }
}
