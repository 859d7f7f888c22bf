import ArgumentParser
import Foundation
import Gateway

/// `erase`.
struct EraseCommand: GatewayCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase",
        abstract: "Erases a person's or a device's data from store, outbox and broker. End the gateway before.",
        discussion: """
            Says first what goes and what it cannot reach. In a terminal it goes on when the name is typed again, elsewhere only with \
            --yes. Of a device that several people share only the user slots of the person go. What the device, a phone or a folder \
            sends again stays refused until the configuration no longer names the device, or has from: for it.

            The exit status is 1 if something is left, and 78 if the configuration cannot be read. Then erase again.
            """)

    @OptionGroup var choice: ConfigurationChoice

    @Option(
        help: ArgumentHelp(
            "The person, as in person: and people: of the configuration, or who acknowledged alerts.", valueName: "name"
        ))
    var person: String?

    @Option(help: ArgumentHelp("The device, with the data of all who use it.", valueName: "id"))
    var device: String?

    @Flag(help: "Delete Home Assistant's statistics of these devices, too.")
    var homeAssistant = false

    @Flag(help: "Do not ask.")
    var yes = false

    func validate() throws {
        if (person == nil) == (device == nil) { throw ValidationError("Name either --person or --device.") }
    }

    func run(with plugins: PluginCatalogue) async throws {
        do {
            let subject = person.map { EraseTool.Subject.person($0) } ?? .device(device ?? "")
            let tool = try EraseTool(configuration: choice.path, with: plugins)
            let plan = try tool.plan(subject, includingStatistics: homeAssistant)
            StandardError.write(plan.text)
            guard yes || Self.confirms(subject.name) else {
                StandardError.write("Nothing was erased.\n")
                throw ExitCode(1)
            }
            StandardOutput.write(try await tool.erase(plan, includingStatistics: homeAssistant))
        } catch let error as ToolFailure {
            StandardError.write("\(error)\n")
            throw ExitCode(1)
        } catch let error as ConfigurationError {
            StandardError.write(error.text(file: choice.path) + "\n")
            throw ExitStatus.configuration.code
        }
    }

    /// Whether a person types the name again. In a script no person answers.
    private static func confirms(_ name: String) -> Bool {
        guard isatty(STDIN_FILENO) == 1 else {
            StandardError.write("Without a terminal --yes is needed.\n")
            return false
        }
        StandardError.write("Type \(name) to erase: ")
        return readLine() == name
    }
}
