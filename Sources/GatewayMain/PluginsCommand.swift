import ArgumentParser
import Gateway

/// `plugins`.
struct PluginsCommand: GatewayCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugins",
        abstract:
            "Lists the plugins, or shows one, by its name or that of a driver or a transport, with a sample of its entries."
    )

    @Argument(help: "The name of a plugin, a driver or a transport.")
    var name: String?

    func run(with plugins: PluginCatalogue) throws {
        guard let name else { return print(plugins.listing, terminator: "") }
        guard let plugin = plugins.plugin(having: name) else {
            throw ValidationError(plugins.explanation(ofMissing: name))
        }
        print(PluginCatalogue.details(of: plugin, for: name), terminator: "")
    }
}
