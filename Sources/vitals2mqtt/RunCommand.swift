import ArgumentParser
import Gateway

/// `vitals2mqtt run`.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Runs the gateway. SIGTERM ends it, SIGHUP applies a changed configuration.")

    @Option(help: "The configuration file.")
    var config: String

    @OptionGroup var log: LogLevelOption

    func run() async throws {
        let status = await GatewayProcess.run(
            .file(config), plugins: try VitalsCommand.catalogue(), logLevel: log.level,
            composition: GatewayServices.standard)
        throw ExitCode(status.rawValue)
    }
}
