import Foundation
import Glibc

extension ConfigurationReader {
    /// The most bytes of a secret, as long as a password in MQTT may be (MQTT 5, 3.1.3.6).
    public static let secretSize = 65_535
    /// The most bytes of a PEM file: four times the authorities of a whole operating system.
    public static let pemSize = 1 << 20
    /// The fewest characters of a device's token without a warning: 64 bits as hexadecimal digits, which nobody guesses where a wrong
    /// one makes its sender wait.
    package static let shortestToken = 16
    /// How a good token is made.
    package static let tokenRemedy = "Make one with openssl rand -hex 32."

    /// A required path, as one from the root or from the working folder. A relative one begins at the configuration's folder.
    public mutating func path(_ key: String, about: String = "") -> String {
        let text = string(key)
        describe(key, "path", default: KeyDescription.required, about: about)
        return place.path(text)
    }

    /// A required path of a file that must be there and readable.
    public mutating func readableFile(_ key: String, about: String = "") -> String {
        let text = string(key)
        describe(key, "path of a file", default: KeyDescription.required, about: about)
        guard !text.isEmpty else { return text }
        let path = place.path(text)
        do throws(TextFileError) { try TextFile.check(path) } catch { report(error.description, at: key) }
        return path
    }

    /// The path of a file in PEM format (RFC 7468), which must be readable; `nil` if the key is absent. The user of the path
    /// reads the file again.
    /// - Parameter isSecret: whether it has a private key, so that no other user may read it.
    public mutating func pemFile(_ key: String, isSecret: Bool = false, about: String = "") -> String? {
        let text = optionalString(key)
        describe(key, "path of a PEM file", about: about)
        guard let path = text.map(place.path) else { return nil }
        do throws(TextFileError) {
            let text = try TextFile.read(path, limit: Self.pemSize)
            if !text.contains("-----BEGIN ") { report("\(path) is not a PEM file (-----BEGIN …).", at: key) }
            contents.append(Secret(text))
        } catch {
            report(error.description, at: key)
        }
        if isSecret { warnIfExposed(path, at: key) }
        return path
    }

    /// A secret: `{file: PATH}` or `{env: NAME}`; `nil` without the key. The configuration file never contains it,
    /// since that is copied, shown and kept in version control.
    ///
    /// A trailing newline of the file is not part of the secret: every editor and `echo` writes one.
    public mutating func secret(_ key: String, about: String = "") -> Secret? {
        describe(key, "secret: {file: PATH} or {env: NAME}", about: about)
        guard let value = value(key) else { return nil }
        guard case .map = value.content else {
            report("A secret must not be written here. Write {file: PATH} or {env: NAME}.", at: key)
            return nil
        }
        let secret = section(key) { reader in
            switch (reader.optionalString("file"), reader.optionalString("env")) {
            case (let file?, nil): return reader.secret(inFile: reader.place.path(file))
            case (nil, let name?):
                guard let text = reader.place.environment[name], !text.isEmpty else {
                    reader.report("The environment variable \(name) is not set, or empty.", at: "env")
                    return nil
                }
                return Secret(text)
            default:
                reader.report("Either file or env is needed here: {file: PATH} or {env: NAME}.")
                return nil
            }
        }
        if let secret { contents.append(secret) }
        return secret
    }

    /// A secret with which a device says that it is the one. A short one is allowed, with a warning.
    package mutating func token(_ key: String, about: String = "") -> Secret? {
        let token = secret(key, about: about)
        guard let token else { return nil }
        tokens.append(token)
        if token.value.count < Self.shortestToken {
            warn("The token has \(token.value.count) characters, and can be guessed. \(Self.tokenRemedy)", at: key)
        }
        return token
    }

    private mutating func secret(inFile path: String) -> Secret? {
        let text: String
        do throws(TextFileError) {
            text = try TextFile.read(path, limit: Self.secretSize)
        } catch {
            report("\(error.description) The secret is the file's only line.", at: "file")
            return nil
        }
        let secret = text.hasSuffix("\r\n") || text.hasSuffix("\n") ? String(text.dropLast()) : text
        guard !secret.isEmpty else {
            report("\(path) is empty. The secret is the file's only line.", at: "file")
            return nil
        }
        // Such as a comment above it, or a list of tokens: nothing could show all of it.
        guard secret.split(whereSeparator: \.isNewline).count <= 1 else {
            report("\(path) has several lines. The secret is the file's only line.", at: "file")
            return nil
        }
        warnIfExposed(path, at: "file")
        return Secret(secret)
    }

    /// Warns if other users of the machine may read a file with a secret.
    private mutating func warnIfExposed(_ path: String, at key: String) {
        guard !place.isCredential(path), let text = FileMode(of: path)?.exposure(of: path) else { return }
        warn(text, at: key)
    }
}
