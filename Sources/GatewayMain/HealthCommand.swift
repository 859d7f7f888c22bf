import ArgumentParser
import Gateway

/// `health`.
struct HealthCommand: GatewayCommand {
    static let configuration = CommandConfiguration(
        commandName: "health",
        abstract: "Asks the running gateway whether it is alive, or ready.",
        discussion: """
            Asks the listener of the configuration's web: section, prints the answer, and ends with 0 if all is well, else with 1. \
            Without --ready neither the broker nor a device counts, so that nothing restarts a gateway for them.
            """)

    @OptionGroup var choice: ConfigurationChoice

    @Flag(help: "Ask also for the broker, the devices and all that is late.")
    var ready = false

    func run(with plugins: PluginCatalogue) async throws {
        let tool = HealthTool(of: choice.path, with: ConfigurationLoader(plugins: plugins))
        do throws(ToolFailure) {
            let answer = try await tool.ask(isReady: ready)
            StandardOutput.write("\(answer)\n")
        } catch {
            StandardError.write("\(error)\n")
            throw ExitCode(1)
        }
    }
}
