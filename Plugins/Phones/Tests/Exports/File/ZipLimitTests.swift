import Foundation
import Testing

@testable import Phones

@Suite struct ZipLimitTests {
    /// A zip whose last record says that the list of its entries has this length.
    private static func zip(listOf length: Int) -> [UInt8] {
        var bytes = ZipFile(entries: [.init(name: "a", content: [1, 2, 3])]).bytes
        for index in 0..<4 { bytes[bytes.count - 10 + index] = UInt8(truncatingIfNeeded: length >> (8 * index)) }
        return bytes
    }

    @Test func `the list of a zip may have 32 MiB`() throws {
        let folder = try Folder()
        // A list within the limit is searched for, and is not in this small file.
        for (length, code) in [(ZipLimits.directory, ExportError.Code.torn), (ZipLimits.directory + 1, .tooLarge)] {
            let stamp = try folder.write(Self.zip(listOf: length), as: "a.zip")
            let error = #expect(throws: ExportError.self) { _ = try ExportDatabase(copying: stamp, entry: "a") }
            #expect(error?.code == code, "\(length): \(error?.message ?? "")")
        }
    }
}
