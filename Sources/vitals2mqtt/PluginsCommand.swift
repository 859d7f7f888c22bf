import ArgumentParser
import Gateway

/// `vitals2mqtt plugins`.
struct PluginsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugins", abstract: "Lists the plugins, or shows one with a sample configuration.")

    @Argument(help: "A plugin's name.")
    var name: String?

    func run() throws {
        let catalogue = try VitalsCommand.catalogue()
        guard let name else { return print(catalogue.listing, terminator: "") }
        guard let plugin = catalogue.plugin(named: name) else {
            throw ValidationError("There is no plugin \(name). `vitals2mqtt plugins` lists them.")
        }
        print(PluginCatalogue.details(of: plugin), terminator: "")
    }
}
