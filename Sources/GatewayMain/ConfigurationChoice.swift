import ArgumentParser
import Foundation
import Gateway

/// `--config`, the same for all commands.
struct ConfigurationChoice: ParsableArguments {
    /// The environment variable that names the configuration of all commands.
    static let variable = "VITALS2MQTT_CONFIG"
    /// The place of the configuration where neither `--config` nor the variable names another one.
    static let standard = "/etc/vitals2mqtt/vitals2mqtt.yaml"

    @Option(
        help: ArgumentHelp(
            "The configuration file. Default: that of the environment variable \(ConfigurationChoice.variable), else \(ConfigurationChoice.standard).",
            valueName: "file"))
    var config: String?

    /// The configuration file.
    var path: String { named ?? Self.standard }

    /// The configuration file, for a command that also works without one; `nil` if none is named, and the user cannot read that of
    /// the service.
    var pathIfAny: String? { named ?? (access(Self.standard, R_OK) == 0 ? Self.standard : nil) }

    private var named: String? {
        if let config { return config }
        let name = ProcessInfo.processInfo.environment[Self.variable] ?? ""
        return name.isEmpty ? nil : name
    }

    /// Says an error of a command, and returns the exit status for it; one that is no error of a tool or the configuration, as it is.
    func reported(_ error: any Error) -> any Error {
        switch error {
        case let failure as ToolFailure:
            StandardError.write("\(failure)\n")
            return failure.isIssue ? ExitStatus.configuration.code : ExitCode(1)
        case let error as ConfigurationError:
            StandardError.write(error.text(file: path) + "\n")
            return ExitStatus.configuration.code
        default: return error
        }
    }
}
