import ArgumentParser
import Gateway

/// `check-config`.
struct CheckConfigCommand: GatewayCommand {
    static let configuration = CommandConfiguration(
        commandName: "check-config",
        abstract: "Checks a configuration file: errors, and what run could not use.")

    @OptionGroup var choice: ConfigurationChoice

    func run(with plugins: PluginCatalogue) throws {
        let report = ConfigurationReport(checking: choice.path, with: ConfigurationLoader(plugins: plugins))
        StandardError.write(report.problems)
        print(report.output, terminator: "")
        throw report.status.code
    }
}
