import Foundation
import GatewayKit
import Subprocess
import SystemPackage

/// Which program to start, in which directory, with which environment.
struct Program: Sendable, Hashable {
    /// The variables of the gateway's environment that a program inherits, if set. All others may be secrets.
    static let inherited = ["HOME", "LANG", "PATH", "TZ"]
    /// The search path if the gateway itself has no `PATH`.
    static let defaultPath = "/usr/local/bin:/usr/bin:/bin"

    /// The program: an absolute path, or a name to find in `PATH`.
    let name: String
    let arguments: [String]
    let directory: String?
    /// Variables from the configuration.
    let variables: [String: String]
    /// What it may use at most.
    let limits: ProgramLimits
    /// The soft limit of descriptors that the gateway was started with; `nil` if it has the same one still.
    var originalDescriptors = InheritedLimits.descriptors

    init(options: inout ConfigurationReader) {
        let command = options.strings("command", about: "The program and its arguments.")
        name = command.first ?? ""
        arguments = Array(command.dropFirst())
        if name.contains("/"), !name.hasPrefix("/") {
            options.report(
                "The program must be an absolute path, or a name that is found in PATH; \(name) is neither.",
                at: "command")
        }
        directory = options.optionalString("directory", about: "Its working folder, an absolute path.")
        if let directory, !directory.hasPrefix("/") {
            options.report("An absolute path is needed here; \(directory) is none.", at: "directory")
        }
        let about = "Variables by name, beside \(Self.inherited.joined(separator: ", "))."
        variables = options.section("environment", about: about) { reader in
            var variables: [String: String] = [:]
            for key in reader.keys {
                variables[key] = reader.string(key)
                if key.isEmpty || key.contains("=") || key.first?.isNumber == true {
                    reader.report("The name of a variable has no = and does not begin with a digit.", at: key)
                }
            }
            return variables
        }
        limits = options.section("limits", about: "What each of its processes may use.") { ProgramLimits(&$0) }
        if let obstacle { options.warn(obstacle.text, at: obstacle.key) }
    }

    /// The environment of the program: the inherited variables and the configured ones.
    func environment(of gateway: [String: String] = ProcessInfo.processInfo.environment) -> [String: String] {
        var environment = ["PATH": Self.defaultPath]
        for key in Self.inherited { if let value = gateway[key] { environment[key] = value } }
        return environment.merging(variables) { _, configured in configured }
    }

    /// The start configuration: its own session, so that signals reach all of the program's children but not the
    /// gateway.
    func configuration(environment: [String: String]) -> Configuration {
        var values: [Environment.Key: String] = [:]
        for (key, value) in environment { if let key = Environment.Key(rawValue: key) { values[key] = value } }
        let command = limitedCommand ?? [name] + arguments
        var configuration = Configuration(
            executable: command[0].hasPrefix("/") ? .path(FilePath(command[0])) : .name(command[0]),
            arguments: Arguments(Array(command.dropFirst())), environment: .custom(values),
            workingDirectory: directory.map { FilePath($0) })
        configuration.platformOptions.createSession = true
        return configuration
    }

    /// Why the program does not start, and what to do about it.
    func cannotStart(_ error: SubprocessError) -> LinkError {
        let reason =
            switch error.code {
            case .executableNotFound: notFound
            case .failedToChangeWorkingDirectory: noDirectory
            default: "The program \(name) cannot be started: \(error)"
            }
        return LinkError(.unreachable, reason)
    }
}
