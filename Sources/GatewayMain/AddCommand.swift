import ArgumentParser
import Foundation
import Gateway
import Logging
import Vitals

/// `add`.
struct AddCommand: GatewayCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract:
            "Prints the checked entry of a new device, to copy below devices: in the configuration, or writes it.",
        discussion: """
            Scans for what is near, and asks in a terminal for what no argument says. Without a terminal nothing is asked: then \
            --device, --transport type=…, or a driver without a transport, such as --driver simulator, is needed; the rest has \
            defaults. Questions go to standard error, the entry to standard \
            output. No file is changed; the configuration, if there is one, says the adapter and the ids that are taken.

            With --write the entry becomes a file in the folder that devices_from of the configuration names, and standard output \
            gets its path; a running gateway applies it within a second. The command remove removes it. What was written or changed \
            by hand is never replaced.

            The exit status is 1 if there is no device, or it cannot be written, and 78 if the entry or the configuration has errors.
            """)

    @OptionGroup var choice: ConfigurationChoice

    @Option(help: ArgumentHelp("How long to listen, 1 to 60.", valueName: "seconds"))
    var seconds = ScanTool.defaultSeconds

    @Option(help: ArgumentHelp("The device, as the command scan lists it.", valueName: "address or name"))
    var device: String?

    @Option(help: "Its driver. Default: the one that recognises it.")
    var driver: String?

    @Option(help: "Its id in topics. Default: made from its name.")
    var id: String?

    @Option(help: "Its name, for people. Default: the name that it advertises, else its id.")
    var name: String?

    @Option(
        help: ArgumentHelp(
            "A key of transport:, such as pairing=ask, passkey.file=PATH, or 'command=[python3, a.py]' for a list. With type=… nothing is scanned. May be repeated for other keys.",
            valueName: "key=value"))
    var transport: [String] = []

    @Option(
        help: ArgumentHelp(
            "A key of the driver's options:, such as 'metrics=[steps, sleep]'. May be repeated for other keys.",
            valueName: "key=value"))
    var option: [String] = []

    @Flag(help: "Write the entry into the folder of devices_from.")
    var write = false

    @Flag(help: "With --write and --id: replace the file that this command made of the device.")
    var replace = false

    @OptionGroup var log: LogLevelOption

    func validate() throws {
        if replace, !write || id == nil { throw ValidationError("--replace needs --write and --id.") }
        let range = ScanTool.seconds
        guard range.contains(seconds) else {
            throw ValidationError("--seconds takes \(range.lowerBound) to \(range.upperBound).")
        }
        for text in transport + option where !text.dropFirst().contains("=") {
            throw ValidationError("--transport and --option need the form key=value, which \(text) does not have.")
        }
    }

    func run(with plugins: PluginCatalogue) async throws {
        let output = ProcessLog(level: log.level ?? .error, environment: [:])
        defer { output.flush() }
        do {
            let config = write ? choice.path : choice.pathIfAny
            let scanner = try ScanTool(configuration: config, with: plugins, logger: output.logger())
            let directory = config.map { URL(filePath: $0).absoluteURL.deletingLastPathComponent().path } ?? "."
            let others = scanner.devices.filter { !replace || $0.text != id }
            let tool = AddTool(plugins: plugins, beside: others, directory: directory)
            let scan = { () async throws -> ScanReport in
                StandardError.write("Listening for \(seconds) s.\n")
                return try await scanner.scan(for: .seconds(seconds))
            }
            // In a script no person answers.
            let ask: AddTool.Ask? = isatty(STDIN_FILENO) == 1 ? { Self.ask($0) } : nil
            let device = try await tool.run(wishes, asking: ask, scan: scan)
            guard write else { return StandardOutput.write(device.entry) }
            let files = DeviceFiles(of: choice.path, loader: ConfigurationLoader(plugins: plugins))
            let written = try files.write(device, replacing: replace)
            for warning in written.warnings { StandardError.write("warning: \(warning)\n") }
            StandardOutput.write("\(written.path)\n")
        } catch { throw choice.reported(error) }
    }

    private static func ask(_ question: String) -> String? {
        StandardError.write(question)
        return readLine()
    }

    private var wishes: AddTool.Wishes {
        var wishes = AddTool.Wishes()
        (wishes.device, wishes.driver, wishes.id, wishes.name) = (device, driver, id, name)
        (wishes.transport, wishes.options) = (Self.keys(transport), Self.keys(option))
        return wishes
    }

    private static func keys(_ texts: [String]) -> [ScanReport.Option] {
        texts.map { text in
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return ScanReport.Option(String(parts[0]), String(parts[1]))
        }
    }
}
