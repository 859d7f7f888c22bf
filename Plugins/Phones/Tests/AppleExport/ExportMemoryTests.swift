import Foundation
import Testing

@testable import Phones

/// The memory of a long export, in a process of its own, which a sanitizer would fill with its own.
@Suite struct ExportMemoryTests {
    @Test func `a million records of one type take no more memory than a thousand`() async {
        await #expect(processExitsWith: .success) {
            do {
                let folder = try Folder()
                let path = folder.path("export.xml")
                #expect(FileManager.default.createFile(atPath: path, contents: nil))
                let file = try #require(FileHandle(forWritingAtPath: path))
                try file.write(contentsOf: Data(HealthFile.xml([], isWhole: false).utf8))
                let block = (0..<1000).map {
                    "<Record type=\"HKQuantityTypeIdentifierStepCount\" sourceName=\"W\" unit=\"count\" startDate=\"2026-06-12 10:\($0 / 60 + 10):\($0 % 60 + 10 > 59 ? 59 : $0 % 60 + 10) +0200\" endDate=\"2026-06-12 11:00:00 +0200\" value=\"1\"/>\n"
                }.joined()
                for _ in 0..<1000 { try file.write(contentsOf: Data(block.utf8)) }
                try file.write(contentsOf: Data("</HealthData>".utf8))
                try file.close()
                let export = AppleExport(try ExportBytes(try #require(FileStamp(of: path))))
                var (count, before) = (0, 0)
                while !export.isAtEnd || export.hasPending {
                    if export.next() != nil { count += 1 }
                    if count == 20_000, before == 0 { before = try DocumentMemoryTests.peak() }
                }
                let rise = try DocumentMemoryTests.peak() - before
                #expect(count == 1_000_000 && rise < 8 << 10, "\(count) \(rise) KiB")
            } catch { Issue.record(error) }
        }
    }

    @Test func `texts that come again are made once, and only some are kept in mind`() {
        var texts = RepeatedTexts()
        var made = 0
        func text(_ number: Int) -> String {
            texts.text("\(number)") { text in
                made += 1
                return "<\(text)>"
            }
        }
        for _ in 0..<3 {
            for number in 0..<RepeatedTexts.maximum { #expect(text(number) == "<\(number)>") }
        }
        #expect(made == RepeatedTexts.maximum)
        for number in 0..<RepeatedTexts.maximum * 3 { #expect(text(number) == "<\(number)>") }
        #expect(made > RepeatedTexts.maximum * 2)
    }
}
