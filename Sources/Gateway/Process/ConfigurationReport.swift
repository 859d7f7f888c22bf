import Vitals

/// The report of `check-config` about a configuration.
package struct ConfigurationReport: Sendable, Hashable {
    /// Lines for standard output.
    package let output: String
    /// Lines for standard error: errors and warnings as `FILE:LINE: path: message`.
    package let problems: String
    /// The command's exit status.
    package let status: ExitStatus

    /// Checks a file, the place of the store, and who may read both. It opens only that file and the files needed to check it.
    package init(checking path: String, with loader: ConfigurationLoader) {
        do throws(ConfigurationError) {
            let configuration = try loader.load(path)
            let place = configuration.checkStorePath()
            guard place.issues.isEmpty else { throw ConfigurationError(issues: place.issues) }
            problems = (configuration.warnings + place.warnings + configuration.checkFileModes(of: path))
                .map { "warning: \($0.text(file: path))\n" }.joined()
            let count = configuration.devices.count
            var lines = ["OK: \(count) \(count == 1 ? "device" : "devices")."]
            for entry in configuration.templates {
                lines.append("\(entry.info.id) is none: it makes one for each part of its topics.")
            }
            if configuration.isStoreInUse {
                lines.append("A gateway uses \(configuration.store.path) now. A second one would be refused.")
            }
            output = lines.map { $0 + "\n" }.joined()
            status = .success
        } catch {
            problems = error.text(file: path) + "\n"
            output = ""
            status = .configuration
        }
    }
}
