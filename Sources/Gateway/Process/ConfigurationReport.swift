/// What `check-config` says about a configuration.
package struct ConfigurationReport: Sendable, Hashable {
    /// Lines for standard output.
    package let output: String
    /// Lines for standard error: mistakes and warnings as `FILE:LINE: path: message`.
    package let problems: String
    /// How the command ends.
    package let status: ExitStatus

    /// Checks a file. Nothing is opened but the file and what has to be read to check it.
    package init(checking path: String, with loader: ConfigurationLoader) {
        do throws(ConfigurationError) {
            let configuration = try loader.load(path)
            problems = configuration.warnings.map { "warning: \($0.text(file: path))\n" }.joined()
            let count = configuration.devices.count
            output = "OK: \(count) \(count == 1 ? "device" : "devices").\n"
            status = .success
        } catch {
            problems = error.text(file: path) + "\n"
            output = ""
            status = .configuration
        }
    }
}
