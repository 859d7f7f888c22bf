import ArgumentParser
import Gateway

/// `config-reference`.
struct ConfigReferenceCommand: GatewayCommand {
    static let configuration = CommandConfiguration(
        commandName: "config-reference",
        abstract: "Prints every configuration key, and the limits to know, in Markdown.")

    func run(with plugins: PluginCatalogue) {
        print(ConfigurationReference(plugins).text, terminator: "")
    }
}
