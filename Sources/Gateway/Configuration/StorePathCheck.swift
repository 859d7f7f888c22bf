import Foundation
package import GatewayKit
import Glibc
import Store

extension GatewayConfiguration {
    /// Checks the place of the store without opening it: what `run` would fail at, and what it would do with a file
    /// that is no store. `run` itself checks nothing before, since a folder may appear later, such as a mounted disk.
    package func checkStorePath() -> (issues: [ConfigurationIssue], warnings: [ConfigurationIssue]) {
        let section = source["store"]
        let line = (section?["path"] ?? section)?.line ?? 0
        func issue(_ message: String) -> ConfigurationIssue {
            ConfigurationIssue(line: line, path: "store.path", message: message)
        }
        if let text = OwnedFolder.refusal(of: store.path) { return ([issue(text)], []) }
        // What is beside the file is beside the file itself, and not beside a link to it.
        let path = StorePath.resolved(store.path)
        var status = stat()
        guard stat(path, &status) == 0 else {
            guard errno == ENOENT || errno == ENOTDIR || errno == EACCES else {
                return ([issue("\(path) cannot be used: \(String(cString: strerror(errno))).")], [])
            }
            let text = Self.issueOfLink(path) ?? Self.issueOfFolder(of: path) ?? Self.issueOfNeighbour(of: path)
            return (text.map { [issue($0)] } ?? [], [])
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            return ([issue("\(path) is no file. Set store.path to a file; it is made where it is missing.")], [])
        }
        guard access(path, R_OK | W_OK) == 0 else {
            return ([issue("\(path) may not be read and written by this user (\(getuid())).")], [])
        }
        if let text = Self.issueOfFolder(of: path) ?? Self.issueOfNeighbour(of: path) {
            return ([issue(text)], [])
        }
        let header = StoreHeader(of: path)
        if header.isOfAnotherProgram {
            return ([issue("\(path) is the database of another program. Set another store.path.")], [])
        }
        if header.isOfNewerVersion {
            let text = "\(path) was made by a newer version of vitals2mqtt. Use that one, or another store.path."
            return ([issue(text)], [])
        }
        guard status.st_size > 0, !header.isDatabase else { return ([], []) }
        return ([], [issue("\(path) is no SQLite database. The gateway would move it aside and begin a new one.")])
    }

    /// Whether a gateway uses the store now: mostly the one whose configuration is being checked.
    package var isStoreInUse: Bool { StoreHeader(of: store.path).isInUse }

    /// What is wrong with a link that could not be followed to a folder, `nil` if it is none.
    private static func issueOfLink(_ path: String) -> String? {
        guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else { return nil }
        return
            "\(path) is a link to \(target), whose folder cannot be found. Create that folder, or set another store.path."
    }

    /// What is wrong with the folder of a file that is to be made there, `nil` if nothing is.
    private static func issueOfFolder(of path: String) -> String? {
        let folder = URL(filePath: path).deletingLastPathComponent().path
        var status = stat()
        guard stat(folder, &status) == 0 else {
            return errno == EACCES
                ? "The folder \(folder) may not be entered by this user (\(getuid()))."
                : "The folder \(folder) does not exist. Create it, or set another store.path."
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { return "\(folder) is no folder. Set another store.path." }
        // SQLite makes its log beside the file.
        guard access(folder, W_OK | X_OK) == 0 else {
            return "The folder \(folder) may not be written by this user (\(getuid()))."
        }
        return nil
    }

    /// What is wrong with a file beside the store that the gateway needs, such as a lock that root has left; `nil` if nothing is.
    private static func issueOfNeighbour(of path: String) -> String? {
        for file in StorePath.neighbours(of: path) where access(file, F_OK) == 0 && access(file, R_OK | W_OK) != 0 {
            return """
                \(file) may not be read and written by this user (\(getuid())). Give it, and all files beside it, to the user who \
                runs the gateway: chown USER \(path)*
                """
        }
        return nil
    }
}
