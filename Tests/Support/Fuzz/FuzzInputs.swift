import Foundation

/// The files with which fuzzing begins, and those that once failed: the folder `Inputs` beside a test.
package struct FuzzInputs: Sendable {
    private let folder: URL

    /// The inputs beside a file of tests.
    package init(beside file: String = #filePath) {
        folder = URL(filePath: file).deletingLastPathComponent().appending(path: "Inputs")
    }

    /// Their names, in order; empty if there is no folder.
    package var names: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder.path()))?.sorted() ?? []
    }

    /// The bytes of one.
    package func bytes(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: folder.appending(path: name)))
    }

    /// The bytes of all, in the order of their names.
    package func all() throws -> [[UInt8]] { try names.map(bytes) }
}
