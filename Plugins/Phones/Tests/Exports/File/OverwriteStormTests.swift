import Foundation
import Testing

@testable import Phones

/// A file that another process overwrites in place while it is copied, on real threads.
@Suite struct OverwriteStormTests {
    private static func oldRows(_ copy: ExportDatabase) throws(ExportError) -> Int64 {
        let statement = try copy.statement("SELECT count(*) FROM numbers WHERE text GLOB 'the*'")
        return try statement.step() ? statement.int64(0) : -1
    }

    @Test func `a copy is the old export or the new one, and never a part of each`() throws {
        let folder = try Folder()
        // Of one length, so that neither the length nor the count of pages shows a mixture.
        let old = try folder.database(20_000)
        let new = try folder.database(20_000, "UPDATE numbers SET text = upper(text);")
        let file = folder.path("Gadgetbridge.db")
        try folder.write(old, as: "Gadgetbridge.db")
        try #require(old.count == new.count)
        // How many rows are old ones, by copies.
        var copies: [Int64: Int] = [:]
        var torn = 0
        for round in 0..<60 {
            let content = round % 2 == 0 ? new : old
            // As after the five seconds in which a file stood still.
            let stamp = try #require(FileStamp(of: file))
            let (isDue, isOver) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let first = content.count / 4096 * (round % 5) / 5
            // Each fifth copy is over before the first piece is written, so that some are whole on any machine.
            let mayBegin = DispatchSemaphore(value: round % 5 == 4 ? 0 : 1)
            if round % 5 == 4 { isDue.signal() }
            Thread.detachNewThread {
                defer { isOver.signal() }
                mayBegin.wait()
                guard let handle = FileHandle(forUpdatingAtPath: file) else { return }
                for (number, place) in stride(from: 0, to: content.count, by: 4096).enumerated() {
                    // The copy begins before the first piece, or in the midst of them.
                    if number == first, round % 5 < 4 { isDue.signal() }
                    try? handle.seek(toOffset: UInt64(place))
                    try? handle.write(contentsOf: content[place..<min(place + 4096, content.count)])
                }
                try? handle.truncate(atOffset: UInt64(content.count))
                try? handle.close()
            }
            #expect(isDue.wait(timeout: .now() + 30) == .success)
            do {
                let copy = try ExportDatabase(copying: stamp, entry: "")
                copies[try Self.oldRows(copy), default: 0] += 1
            } catch {
                #expect(error.code == .torn)
                torn += 1
            }
            mayBegin.signal()
            #expect(isOver.wait(timeout: .now() + 30) == .success)
            #expect(try Data(contentsOf: URL(filePath: file)) == Data(content))
            // Nothing is torn any more.
            let whole = try ExportDatabase(copying: try #require(FileStamp(of: file)), entry: "")
            #expect(try Self.oldRows(whole) == (round % 2 == 0 ? 0 : 20_000))
            // Its next change has another time for certain, also with long steps of the file system's clock.
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1_700_000_000 + Double(round))], ofItemAtPath: file)
        }
        #expect(Set(copies.keys) == [0, 20_000], "\(copies)")
        #expect(torn > 0, "\(copies)")
    }
}
