import ArgumentParser
import Gateway

/// `vitals2mqtt check-config`.
struct CheckConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check-config", abstract: "Checks a configuration file and names every mistake with its line.")

    @Argument(help: "The configuration file.")
    var file: String

    func run() throws {
        let report = ConfigurationReport(
            checking: file, with: ConfigurationLoader(plugins: try VitalsCommand.catalogue()))
        StandardError.write(report.problems)
        print(report.output, terminator: "")
        throw ExitCode(report.status.rawValue)
    }
}
