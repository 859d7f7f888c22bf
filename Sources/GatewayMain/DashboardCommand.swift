import ArgumentParser
import Gateway

/// `dashboard`.
struct DashboardCommand: GatewayCommand {
    static let configuration = CommandConfiguration(
        commandName: "dashboard",
        abstract:
            "Prints a Home Assistant dashboard of the configured devices, to paste into its raw configuration editor.",
        discussion: """
            What a device can do is read from the store, so each device must have been connected once. With home_assistant.url, \
            Home Assistant is asked for the ids of the entities; else they are those that the gateway proposes to it.
            """)

    @Option(help: ArgumentHelp("Only this device. May be repeated.", valueName: "id"))
    var device: [String] = []

    @Flag(help: "Do not ask Home Assistant for the ids of the entities.")
    var proposedIds = false

    @OptionGroup var choice: ConfigurationChoice

    func run(with plugins: PluginCatalogue) async throws {
        do {
            let tool = try DashboardTool(configuration: choice.path, with: plugins)
            let result = try await tool.make(of: device, asking: !proposedIds)
            StandardError.write(result.notes)
            StandardOutput.write(result.text)
        } catch { throw choice.reported(error) }
    }
}
