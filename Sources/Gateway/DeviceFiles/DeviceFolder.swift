import Foundation
import GatewayKit
import Glibc
import Store
import Vitals

/// The files in the folder of `devices_from`: each is one device, or a list of them, and all are in one list with those of the
/// configuration file.
///
/// A file is one whose name ends with `.yaml` and does not begin with a dot. They are read in the order of their names.
struct DeviceFolder: Sendable {
    /// The key that names the folder.
    static let key = "devices_from"
    /// How the name of a file ends.
    static let ending = ".yaml"

    /// A file of the folder.
    struct Part: Sendable {
        /// Its path.
        let file: String
        /// What is in it.
        let root: ConfigurationValue

        /// The entries, each with its path in the file.
        var entries: [(path: String, value: ConfigurationValue)] {
            switch root.content {
            case .list(let values): values.enumerated().map { ("[\($0)]", $1) }
            case .map(let members) where members.isEmpty: []
            case .null: []
            default: [("", root)]
            }
        }
    }

    /// A file as it would be after a change.
    struct Change: Sendable {
        let name: String
        let text: String
    }

    /// What was seen of the folder before it was read.
    let mark: DeviceFolderMark
    /// The files that could be read.
    private(set) var parts: [Part] = []
    /// What is wrong with the folder as a whole; `nil` if it is as it should be.
    private(set) var problem: String?
    /// What is wrong with single files.
    private(set) var issues: [ConfigurationIssue] = []
    /// What was probably not intended.
    private(set) var warnings: [ConfigurationIssue] = []

    /// Reads the folder that a configuration names; `nil` if it names none.
    init?(of root: ConfigurationValue, place: ConfigurationPlace, changing change: Change? = nil) {
        guard let path = Self.path(in: root, place) else { return nil }
        self.init(path, changing: change)
    }

    /// The folder that a configuration names; `nil` if it names none.
    static func path(in root: ConfigurationValue, _ place: ConfigurationPlace) -> String? {
        guard case .scalar(let text, _)? = root[key]?.content, !text.isEmpty else { return nil }
        let path = place.path(text)
        return path.hasSuffix("/") && path.count > 1 ? String(path.dropLast()) : path
    }

    /// What is wrong with a folder; `nil` if it can be read.
    static func problem(of path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0 else {
            return errno == ENOENT
                ? "The folder \(path) does not exist. Create it: mkdir \(path)"
                : "The folder \(path) cannot be used: \(String(cString: strerror(errno)))."
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { return "\(path) is no folder. Name one." }
        guard access(path, R_OK | X_OK) == 0 else {
            return "The folder \(path) may not be read by this user (\(getuid()))."
        }
        return nil
    }

    private init(_ path: String, changing change: Change?) {
        mark = DeviceFolderMark(of: path)
        problem = Self.problem(of: path)
        guard problem == nil else { return }
        var names = Set((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [])
        if let change { names.insert(change.name) }
        let listed = names.filter { !$0.hasPrefix(".") }.sorted()
        for name in listed where name.hasSuffix(".yml") {
            warn("The file is not read, since its name does not end with \(Self.ending).", in: "\(path)/\(name)")
        }
        let files = listed.filter { $0.hasSuffix(Self.ending) }
        guard files.count <= ConfigurationLimits.deviceFiles else {
            problem = """
                \(path) has \(files.count) files, and at most \(ConfigurationLimits.deviceFiles) are read. Remove some, or write their \
                devices as a list into one file.
                """
            return
        }
        var (room, values) = (ConfigurationLimits.fileSize, ConfigurationLimits.values)
        for name in files where problem == nil {
            let text = change?.name == name ? change?.text : nil
            read("\(path)/\(name)", text, in: path, &room, &values)
        }
    }

    /// Reads a file, or its `text` in place of what is on disk, with `room` for so many bytes and so many `values`.
    private mutating func read(
        _ file: String, _ text: String?, in folder: String, _ room: inout Int, _ values: inout Int
    ) {
        do throws(ConfigurationError) {
            let found: Data? = if let text { Data(text.utf8) } else { try Self.data(of: file, upTo: room + 1) }
            // Another program may have removed it meanwhile.
            guard let data = found else { return }
            room -= data.count
            guard room >= 0 else {
                problem = "The files of \(folder) have more than \(ConfigurationLimits.fileSize) bytes together."
                return
            }
            let document = try YAMLDocument(try Self.text(of: data, file))
            values -= document.count
            guard values >= 0 else {
                problem = "The files of \(folder) have more than \(ConfigurationLimits.values) values together."
                return
            }
            if document.root["devices"] != nil {
                throw Self.error(
                    "The file is a device itself, or a list of them: leave out the line devices:.",
                    line: document.root.line)
            }
            let part = Part(file: file, root: document.root)
            if part.entries.isEmpty { warn("The file has no device.", in: file) }
            parts.append(part)
        } catch {
            issues += error.issues.map { issue in
                var issue = issue
                issue.file = file
                return issue
            }
        }
    }

    private static func data(of file: String, upTo count: Int) throws(ConfigurationError) -> Data? {
        // The system's listing has replaced the bytes that are no text.
        guard !file.contains("\u{FFFD}") else { throw error("The file's name is no text. Rename it.") }
        let data: Data?
        do throws(StoreError) { data = try OwnedFolder(of: file).read(upTo: count) } catch {
            throw Self.error(error.message)
        }
        var status = stat()
        if data == nil, lstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFLNK {
            throw error("The file is a link that leads nowhere. Remove it.")
        }
        return data
    }

    private static func text(of data: Data, _ file: String) throws(ConfigurationError) -> String {
        do throws(TextFileError) { return try TextFile.text(of: data, file, limit: data.count) } catch {
            let line = if case .notText(_, let line) = error { line } else { 0 }
            throw Self.error("The file \(error.reason)", line: line)
        }
    }

    private static func error(_ message: String, line: Int = 0) -> ConfigurationError {
        ConfigurationError(issues: [ConfigurationIssue(line: line, path: "", message: message)])
    }

    private mutating func warn(_ message: String, in file: String) {
        var warning = ConfigurationIssue(line: 0, path: "", message: message)
        warning.file = file
        warnings.append(warning)
    }
}
