import Foundation
import Synchronization

/// The project's files in the checkout.
enum Repository {
    /// The checkout's folder.
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// A Swift file with its text.
    struct File: Sendable, CustomStringConvertible {
        /// The path below the root.
        let path: String
        let text: String
        var description: String { path }
        var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }

        /// What may precede an import.
        private static let access: Set = ["public", "package", "internal", "fileprivate", "private"]

        /// The modules that it imports.
        var imports: Set<String> {
            Set(
                lines.compactMap { line in
                    var words = line.split(separator: " ")
                    while let first = words.first, Self.access.contains(String(first)) || first.hasPrefix("@") {
                        words.removeFirst()
                    }
                    guard words.first == "import", words.count >= 2 else { return nil }
                    // `import struct Foundation.Data` names a kind first.
                    let name = words.count > 2 && !words[2].hasPrefix("//") ? words[2] : words[1]
                    return String(name.split(separator: ".")[0])
                })
        }
    }

    /// The files of each folder that was read: many tests read the same.
    private static let read = Mutex<[String: [File]]>([:])

    /// The Swift files below a folder of the root.
    static func swiftFiles(in folder: String) throws -> [File] {
        if let files = read.withLock({ $0[folder] }) { return files }
        let files = try readSwiftFiles(in: folder)
        read.withLock { $0[folder] = files }
        return files
    }

    private static func readSwiftFiles(in folder: String) throws -> [File] {
        let base = root.appending(path: folder)
        let paths = try FileManager.default.subpathsOfDirectory(atPath: base.path)
        return try paths.filter { $0.hasSuffix(".swift") }.sorted().map { path in
            File(
                path: "\(folder)/\(path)",
                text: try String(contentsOf: base.appending(path: path), encoding: .utf8))
        }
    }

    /// The names of the folders directly in a folder of the root.
    static func folders(in folder: String) throws -> [String] {
        let base = root.appending(path: folder)
        return try FileManager.default.contentsOfDirectory(
            at: base, includingPropertiesForKeys: [.isDirectoryKey]
        ).filter { try $0.resourceValues(forKeys: [.isDirectoryKey]).isDirectory ?? false }
            .map(\.lastPathComponent).sorted()
    }

    /// What several suites and campaigns need, and the programs that measure: written as what ships is.
    static let kits = ["Tests/Benchmarks", "Tests/Simulation", "Tests/Support"]

    /// The Swift files of modules, plugins with their tests, and kits.
    static func sources() throws -> [File] { try (["Sources", "Plugins"] + kits).flatMap { try swiftFiles(in: $0) } }

    /// The folders of the bundled plugins. `Examples` contains separate packages.
    static func plugins() throws -> [String] { try folders(in: "Plugins").filter { $0 != "Examples" } }

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The files of one kind below a folder of the root (or below the root itself, without build output).
    static func files(in folder: String, withExtension type: String) throws -> [File] {
        let base = folder.isEmpty ? root : root.appending(path: folder)
        var paths: [String] = []
        for name in try FileManager.default.contentsOfDirectory(atPath: base.path)
        where !name.hasPrefix(".build") && ![".git", ".swiftpm"].contains(name) {
            let path = folder.isEmpty ? name : "\(folder)/\(name)"
            let below = try? FileManager.default.subpathsOfDirectory(atPath: root.appending(path: path).path)
            paths += [path] + (below ?? []).map { "\(path)/\($0)" }
        }
        return try paths.filter { $0.hasSuffix(".\(type)") }.sorted().map { File(path: $0, text: try text($0)) }
    }

    /// Whether a file or folder exists at a path relative to the root, or relative to a file.
    static func exists(_ path: String, besides file: String?) -> Bool {
        let base = file.map { root.appending(path: $0).deletingLastPathComponent() } ?? root
        return FileManager.default.fileExists(atPath: base.appending(path: path).standardizedFileURL.path)
    }
}
