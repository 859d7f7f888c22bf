import Foundation
import GatewayKit
import Glibc
import Store
import Vitals

/// The devices that the program may write: one file for each, in the folder that the configuration names by `devices_from`.
///
/// Whatever writes devices uses it, such as the commands `add --write` and `remove`. It writes only files that it made itself and
/// that nobody has changed since. A file is written whole or not at all, and only if the configuration with it has no error. A running
/// gateway applies a change within a second (`DeviceFolderWatch`). All calls wait for the disk, so no thread of Swift's pool should
/// make them, as `BlockingQueue` prevents.
package struct DeviceFiles: Sendable {
    /// A file that was written.
    package struct Written: Sendable, Hashable {
        /// Its path.
        package let path: String
        /// What was probably not intended, as `FILE:LINE: path: message`.
        package let warnings: [String]
    }

    /// The configuration file.
    let configuration: String
    let loader: ConfigurationLoader
    private let output: @Sendable (Int32, UnsafeRawPointer?, Int) -> Int

    /// The devices of a configuration file.
    /// - Parameters:
    ///   - loader: checks the configuration.
    ///   - write: the system's write(2), or what a test has in its place.
    package init(
        of configuration: String, loader: ConfigurationLoader,
        write: @escaping @Sendable (Int32, UnsafeRawPointer?, Int) -> Int = { Glibc.write($0, $1, $2) }
    ) {
        self.configuration = configuration
        self.loader = loader
        output = write
    }

    /// Writes the file of a device.
    /// - Parameter replacing: whether the device may have a file already, which the program made.
    /// - Throws: `ConfigurationError` if the configuration with the device has errors; `ToolFailure` if `devices_from` is missing,
    ///   another program is writing, the file is a person's or has a person's changes, or the disk is full. Then nothing has changed.
    package func write(_ device: NewDevice, replacing: Bool = false) throws -> Written {
        try check(device.id)
        let file = DeviceFile(of: device)
        return try changing { folder, lock in
            let path = "\(folder)/\(file.name)"
            let change = DeviceFolder.Change(name: file.name, text: file.text)
            let whole = try loader.load(configuration, changing: change)
            let earlier = try self.file(file.name, in: folder)
            if let earlier { try refuse(earlier, at: path, for: file, replacing: replacing) }
            try OwnedFolder(of: path).write(Array(file.text.utf8), replacing: earlier != nil, through: output)
            try announce("\(path) is written", by: lock)
            let warnings = whole.warnings + whole.checkFileModes(of: nil)
            return Written(path: path, warnings: warnings.filter { $0.file == path }.map { $0.text(file: nil) })
        }
    }

    /// Removes the file of a device that the program made.
    /// - Returns: the path that it had.
    /// - Throws: `ToolFailure` as `write`, or if the device has no such file; then it says where the device is. `ConfigurationError` if
    ///   the configuration file cannot be read; other errors in it do not matter.
    package func remove(_ device: String) throws -> String {
        try check(device)
        return try changing { folder, lock in
            let name = DeviceFile.name(of: device)
            let path = "\(folder)/\(name)"
            guard let file = try self.file(name, in: folder) else { throw missing(device, path) }
            try refuse(file, at: path, for: nil, replacing: true)
            try OwnedFolder(of: path).removeDurably()
            try announce("\(path) is removed", by: lock)
            return path
        }
    }

    /// Why a gateway cannot apply what the folder has now, such as an error in another file of it; `nil` if it can.
    package func obstacle() -> ConfigurationError? {
        do throws(ConfigurationError) {
            _ = try loader.load(configuration)
            return nil
        } catch { return error }
    }

    /// An id names a file, so nothing else may.
    private func check(_ id: String) throws(ToolFailure) {
        guard DeviceID(id) == nil else { return }
        throw ToolFailure(
            "\(id.printable) is no id: 1 to \(DeviceID.maximumLength) of a-z, 0-9, _ and -, and not \(DeviceID.reserved).",
            isIssue: true)
    }

    /// Changes the folder while no other program does.
    private func changing<Result>(_ body: (_ folder: String, _ lock: FolderLock) throws -> Result) throws -> Result {
        guard let folder = try ConfigurationLoader.deviceFolder(in: configuration) else {
            throw ToolFailure(
                """
                \(configuration) does not say where devices may be written. Make a folder beside it, and add the line: \
                \(DeviceFolder.key): devices.d
                """)
        }
        if let problem = DeviceFolder.problem(of: folder) { throw ToolFailure(problem) }
        do {
            let lock = try FolderLock(of: folder)
            return try withExtendedLifetime(lock) { try body(folder, lock) }
        } catch let error as StoreError {
            throw ToolFailure(error.message)
        }
    }

    /// A file of the folder; `nil` if it is missing.
    private func file(_ name: String, in folder: String) throws -> DeviceFile? {
        let path = "\(folder)/\(name)"
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw ToolFailure("\(path) is a link or no file, so it was made by hand. Remove it, or choose another id.")
        }
        let limit = ConfigurationLimits.fileSize
        guard let data = try OwnedFolder(of: path).read(upTo: limit + 1) else { return nil }
        do throws(TextFileError) {
            return DeviceFile(name, text: try TextFile.text(of: data, path, limit: limit))
        } catch { throw ToolFailure("\(error) It is left as it is.") }
    }

    /// Refuses to change a file that is not as the program made it, or is not to be replaced.
    /// - Parameter other: what is to replace it.
    private func refuse(
        _ file: DeviceFile, at path: String, for other: DeviceFile?, replacing: Bool
    ) throws(ToolFailure) {
        switch file.author {
        case .program where replacing: return
        case .program:
            throw ToolFailure("\(path) is there already. Use --replace, or remove it with the command remove.")
        case .both:
            let both = other.map { "The program would write:\n\($0.shown)" } ?? ""
            throw ToolFailure(
                """
                \(path) was changed or renamed by hand since the program made it, so it is left as it is. Delete its first line to \
                keep it as yours, or the file.
                It has:
                \(file.shown)\(both)
                """)
        case .person:
            throw ToolFailure(
                "\(path) was made by hand, so it is left as it is. Change or remove it by hand, or choose another id.")
        }
    }

    /// Lets a running gateway apply a change.
    private func announce(_ change: String, by lock: FolderLock) throws(ToolFailure) {
        guard !lock.countChange() else { return }
        throw ToolFailure("\(change), but a running gateway does not see it. Send it SIGHUP (systemctl reload).")
    }

    /// Why a device cannot be removed that has no file of its name, with its place if it has another one.
    private func missing(_ id: String, _ path: String) -> ToolFailure {
        // Other errors of the configuration do not matter here.
        let devices = (try? loader.load(configuration))?.devices ?? []
        if let device = devices.first(where: { $0.info.id.text == id }) {
            let place = "\(device.file ?? configuration):\(device.source.line)"
            return ToolFailure("\(id) was written by hand, in \(place). Remove it there.")
        }
        let hint = Spelling.hint(for: id, in: devices.map(\.info.id.text)).map { " \($0)" } ?? ""
        return ToolFailure("There is no file \(path).\(hint)")
    }
}
