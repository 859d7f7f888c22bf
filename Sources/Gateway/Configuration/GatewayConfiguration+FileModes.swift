import Foundation
package import GatewayKit
import Store

extension GatewayConfiguration {
    /// Warnings about files that other users of the machine may read or change: the configuration file, the folder of
    /// `devices_from` with its files, and the store with what is beside it. Those of secrets and keys are among `warnings`.
    ///
    /// They are warnings and not errors: a gateway that refuses to start loses data, and a wrong mode loses none. No mode
    /// is changed either: root's file for the service's group is a usual way to give a service its secret.
    package func checkFileModes(of file: String?) -> [ConfigurationIssue] {
        (file.map { Self.check($0, with: source) } ?? []) + checkDeviceFiles() + checkStoreFiles()
    }

    private func checkDeviceFiles() -> [ConfigurationIssue] {
        guard let folder = deviceFolder?.path else { return [] }
        var warnings: [ConfigurationIssue] = []
        if FileMode(of: folder)?.isWritableByAll == true {
            let text =
                "Every user of this machine may put devices into \(folder), and with them programs that the gateway starts. "
                + "Run: chmod o-w \(folder)"
            warnings.append(
                ConfigurationIssue(line: source[DeviceFolder.key]?.line ?? 0, path: DeviceFolder.key, message: text))
        }
        for device in devices {
            guard let file = device.file else { continue }
            for var warning in Self.check(file, with: device.source) {
                warning.file = file
                // A file may have several devices.
                if !warnings.contains(warning) { warnings.append(warning) }
            }
        }
        return warnings
    }

    /// Checks a file of the configuration with this content.
    private static func check(_ file: String, with source: ConfigurationValue) -> [ConfigurationIssue] {
        guard let mode = FileMode(of: file) else { return [] }
        if mode.isWritableByAll {
            let text =
                "Every user of this machine may change \(file), and with it the programs that the gateway starts. "
                + "Run: chmod o-w \(file)"
            return [ConfigurationIssue(line: 0, path: "", message: text)]
        }
        guard let (path, line) = source.firstSecret(), let text = mode.exposure(of: file) else { return [] }
        return [ConfigurationIssue(line: line, path: path, message: "This looks like a secret. \(text)")]
    }

    private func checkStoreFiles() -> [ConfigurationIssue] {
        let section = source["store"]
        let line = (section?["path"] ?? section)?.line ?? 0
        func warning(_ message: String) -> ConfigurationIssue {
            ConfigurationIssue(line: line, path: "store.path", message: message)
        }
        let place = URL(filePath: StorePath.resolved(store.path))
        let folder = place.deletingLastPathComponent().path
        guard let mode = FileMode(of: folder) else { return [] }
        var warnings: [ConfigurationIssue] = []
        if mode.isWritableByAll {
            warnings.append(
                warning(
                    "Every user of this machine may put files beside the store, in \(folder). Use a folder of its own, "
                        + "or run: chmod o-w \(folder)"))
        }
        // Files that begin with the name of a folder are not the store's.
        guard !mode.isClosedFolder, !StorePath.isOther(place.path) else { return warnings }
        let name = place.lastPathComponent
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let exposed = files.filter { $0 == name || $0.hasPrefix(name + "-") || $0.hasPrefix(name + ".") }
            .sorted().filter { FileMode(of: "\(folder)/\($0)")?.exposure(of: $0) != nil }
        guard !exposed.isEmpty else { return warnings }
        let more = exposed.count - Self.namedFiles
        let names = exposed.prefix(Self.namedFiles).joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
        return warnings + [
            warning("Other users of this machine may read health data: \(names). Run: chmod 600 \(place.path)*")
        ]
    }

    /// How many files a warning names.
    private static let namedFiles = 3
}

extension ConfigurationValue {
    /// Words in the name of a key whose value is a secret.
    private static let wordsOfSecrets = ["password", "passwd", "secret", "token", "apikey", "api_key", "credential"]

    /// The path and the line of the first value whose key says that it is a secret. Secrets of the gateway cannot stand
    /// in the file; those of a plugin or a program's environment may.
    func firstSecret(_ path: String = "") -> (path: String, line: Int)? {
        switch content {
        case .map(let members):
            for (key, value) in members {
                let name = path.isEmpty ? key.text : "\(path).\(key.text)"
                if case .scalar(let text, _) = value.content, !text.isEmpty, Self.isNameOfSecret(key.text) {
                    return (name, value.line)
                }
                if let found = value.firstSecret(name) { return found }
            }
            return nil
        case .list(let values):
            for (index, value) in values.enumerated() {
                if let found = value.firstSecret("\(path)[\(index)]") { return found }
            }
            return nil
        case .scalar, .null: return nil
        }
    }

    /// Whether a key names a secret, and not the file that has it.
    private static func isNameOfSecret(_ key: String) -> Bool {
        let key = key.lowercased()
        return !key.hasSuffix("file") && !key.hasSuffix("path") && wordsOfSecrets.contains(where: key.contains)
    }
}
