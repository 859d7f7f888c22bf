import ArgumentParser
import Gateway

/// `plugins`.
struct PluginsCommand: GatewayCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugins", abstract: "Lists the plugins, or shows one with a sample configuration.")

    @Argument(help: "A plugin's name.")
    var name: String?

    func run(with plugins: PluginCatalogue) throws {
        guard let name else { return print(plugins.listing, terminator: "") }
        guard let plugin = plugins.plugin(named: name) else {
            throw ValidationError("There is no plugin \(name). The command `plugins` without a name lists them.")
        }
        print(PluginCatalogue.details(of: plugin), terminator: "")
    }
}
