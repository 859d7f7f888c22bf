import ArgumentParser
import Gateway

/// `run`.
struct RunCommand: GatewayCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Runs the gateway. SIGTERM ends it, SIGHUP applies a changed configuration.")

    @Option(help: "The configuration file.")
    var config: String

    @OptionGroup var log: LogLevelOption

    func run(with plugins: PluginCatalogue) async throws {
        throw await GatewayProcess.run(
            .file(config), plugins: plugins, logLevel: log.level, composition: GatewayServices.standard
        ).code
    }
}
