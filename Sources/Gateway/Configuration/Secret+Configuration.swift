import Foundation
import GatewayKit

extension ConfigurationReader {
    /// A secret: `{file: PATH}` or `{env: NAME}`; `nil` without the key. The configuration file never contains it,
    /// since that is copied, shown and kept in version control.
    ///
    /// A trailing newline of the file is not part of the secret: every editor and `echo` writes one.
    mutating func secret(_ key: String, _ context: inout ReadingContext) -> Secret? {
        guard let value = value(key) else { return nil }
        guard case .map = value.content else {
            report("A secret must not stand here. Write {file: PATH} or {env: NAME}.", at: key)
            return nil
        }
        return section(key) { reader in
            switch (reader.optionalString("file"), reader.optionalString("env")) {
            case (let file?, nil): return reader.secret(inFile: context.path(file), &context)
            case (nil, let name?):
                guard let text = context.environment[name], !text.isEmpty else {
                    reader.report("The environment variable \(name) is not set, or empty.", at: "env")
                    return nil
                }
                return Secret(text)
            default:
                reader.report("Either file or env is needed here: {file: PATH} or {env: NAME}.")
                return nil
            }
        }
    }

    private mutating func secret(inFile path: String, _ context: inout ReadingContext) -> Secret? {
        let text: String
        do throws(TextFileError) {
            text = try TextFile.read(path, limit: ConfigurationLimits.secretSize)
        } catch {
            report("\(error.description) The password is the file's only line.", at: "file")
            return nil
        }
        let secret = text.hasSuffix("\r\n") || text.hasSuffix("\n") ? String(text.dropLast()) : text
        guard !secret.isEmpty else {
            report("\(path) is empty. The secret is the file's only line.", at: "file")
            return nil
        }
        context.warnIfExposed(path, at: "file", of: self)
        return Secret(secret)
    }
}

extension ReadingContext {
    /// Where container engines mount secrets. Their modes are often open, and nobody else is in the container.
    private static let mountedSecrets = "/run/secrets/"

    /// Warns if other users of the machine may read a file with a secret.
    mutating func warnIfExposed(_ path: String, at key: String, of reader: ConfigurationReader) {
        guard !isCredential(path), let text = FileMode(of: path)?.exposure(of: path) else { return }
        warn(text, at: key, of: reader)
    }

    /// Whether systemd or a container engine keeps the file for this service only. The file may then look readable for a
    /// group, because an access control list grants access.
    private func isCredential(_ path: String) -> Bool {
        if path.hasPrefix(Self.mountedSecrets) { return true }
        guard let directory = environment["CREDENTIALS_DIRECTORY"], !directory.isEmpty else { return false }
        return path.hasPrefix(directory + "/")
    }
}
