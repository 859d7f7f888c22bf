import ArgumentParser
import Gateway
import Logging
import Vitals

/// `scan`.
struct ScanCommand: GatewayCommand {
    static let configuration = CommandConfiguration(
        commandName: "scan",
        abstract: "Lists the devices in reach: signal, address, name, and the drivers that recognise them.",
        discussion: """
            A configuration, if there is one, names the adapter under plugins: and the devices that are configured. The gateway may \
            be running; it can be asked over MQTT as well, with gateway/command/scan. The exit status is 1 if \
            nothing could be scanned, for example without an adapter.
            """)

    @OptionGroup var choice: ConfigurationChoice

    @Option(help: ArgumentHelp("How long to listen, 1 to 60.", valueName: "seconds"))
    var seconds = ScanTool.defaultSeconds

    @Flag(help: "Also list what has neither a name nor a driver.")
    var all = false

    @Flag(help: "Print JSON: everything, as the answer of gateway/command/scan has it.")
    var json = false

    @OptionGroup var log: LogLevelOption

    func validate() throws {
        let range = ScanTool.seconds
        guard range.contains(seconds) else {
            throw ValidationError("--seconds takes \(range.lowerBound) to \(range.upperBound).")
        }
    }

    func run(with plugins: PluginCatalogue) async throws {
        let output = ProcessLog(level: log.level ?? .error, environment: [:])
        defer { output.flush() }
        do {
            let tool = try ScanTool(configuration: choice.pathIfAny, with: plugins, logger: output.logger())
            let report = try await tool.scan(for: .seconds(seconds))
            for problem in report.problems { StandardError.write("\(problem.plugin): \(problem.message)\n") }
            StandardOutput.write(json ? report.json : report.text(isWhole: all))
        } catch { throw choice.reported(error) }
    }
}
