import ArgumentParser
import Foundation
import Gateway
import Logging

/// `plugin check`.
struct PluginCheckCommand: GatewayCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Checks a program that sends lines of JSON (Vitals Link) over its standard input and output.",
        discussion: """
            Prints each thing that is checked, what is wrong, and what Protocol.md says there. The exit status is 0 where nothing is \
            wrong, and 1 otherwise.

            The check sets the device's clock, changes its monitoring and starts measurements. At the end the device has its monitoring \
            back and the right time.
            """)

    @Option(help: ArgumentHelp("How long an answer may take.", valueName: "seconds"))
    var timeout = 10.0

    @Option(help: ArgumentHelp("How long a measurement is asked to take.", valueName: "seconds"))
    var measure = 1.0

    @Option(help: ArgumentHelp("How long to listen to what the program sends by itself.", valueName: "seconds"))
    var listen = 3.0

    @Flag(help: "Also report to the device that its records are safe. It may delete them then.")
    var acknowledge = false

    @Option(
        name: .customLong("option"),
        help: ArgumentHelp(
            "A key of the device's `options`, which the program gets with `initialize`. May be repeated.",
            valueName: "key=value"))
    var deviceOptions: [String] = []

    @OptionGroup var log: LogLevelOption

    @Argument(parsing: .postTerminator, help: "The program and its arguments, after --.")
    var program: [String] = []

    func validate() throws {
        guard !program.isEmpty else {
            throw ValidationError("Name the program after --, such as: plugin check -- python3 my_device.py")
        }
        guard (0.1...3600).contains(timeout), (1...3600).contains(measure), (0...3600).contains(listen) else {
            throw ValidationError("--timeout takes 0.1 to 3600 seconds, --measure 1 to 3600, --listen 0 to 3600.")
        }
        for option in deviceOptions where !option.dropFirst().contains("=") {
            throw ValidationError("--option needs the form key=value, which \(option) does not have.")
        }
    }

    func run(with plugins: PluginCatalogue) async throws {
        var options = ProgramCheck.Options(command: command)
        options.timeout = .seconds(timeout)
        options.measurement = .seconds(measure)
        options.listening = .seconds(listen)
        options.acknowledges = acknowledge
        options.deviceOptions = deviceOptions.map { option in
            let parts = option.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (String(parts[0]), String(parts[1]))
        }
        let output = ProcessLog(level: log.level ?? .info, environment: [:])
        defer { output.flush() }
        let check: ProgramCheck
        do { check = try ProgramCheck(options, logger: output.logger()) } catch { throw ValidationError("\(error)") }
        let isGood = await check.run { step in StandardOutput.write(step.text) }
        StandardOutput.write(isGood ? "The program does what Vitals Link wants.\n" : "The program has to be changed.\n")
        if !isGood { throw ExitCode(1) }
    }

    /// The program; a path relative to the current folder is made absolute.
    private var command: [String] {
        guard let name = program.first, name.contains("/"), !name.hasPrefix("/") else { return program }
        return [URL(filePath: name).standardizedFileURL.path] + program.dropFirst()
    }
}
