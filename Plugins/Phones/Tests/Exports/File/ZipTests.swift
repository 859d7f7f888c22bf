import Foundation
import Testing

@testable import Phones

@Suite struct ZipTests {
    private static let name = "database/Gadgetbridge"
    private let folder: Folder
    private let content: [UInt8]

    init() throws {
        folder = try Folder()
        content = try folder.database(5000)
    }

    private func zip(_ change: (inout ZipFile.Entry) -> Void = { _ in }) -> ZipFile {
        var entry = ZipFile.Entry(name: Self.name, content: content)
        change(&entry)
        let keys = ZipFile.Entry(name: "preferences/device_C0.json", content: Array("{\"authkey\": \"secret\"}".utf8))
        return ZipFile(entries: [keys, entry, ZipFile.Entry(name: "gadgetbridge.json", content: Array("{}".utf8))])
    }

    private func open(_ bytes: [UInt8]) throws -> ExportDatabase {
        try ExportDatabase(copying: try folder.write(bytes, as: "export.zip"), entry: Self.name)
    }

    private func code(_ bytes: [UInt8]) throws -> ExportError.Code? {
        let error = #expect(throws: ExportError.self) { _ = try open(bytes) }
        return error?.code
    }

    @Test func `unpacks the one entry, as different writers write it`() throws {
        let ways: [(inout ZipFile.Entry) -> Void] = [
            { _ in }, { $0.hasDescriptor = false }, { $0.isDeflated = false },
            { ($0.isDeflated, $0.hasDescriptor) = (false, false) },
            { $0.isLarge = true }, { ($0.isLarge, $0.isDeflated) = (true, false) },
        ]
        for (index, way) in ways.enumerated() {
            #expect(try open(zip(way).bytes).sum() == 12_502_500, "\(index)")
        }
        var large = zip { $0.isLarge = true }
        large.isLarge = true
        #expect(try open(large.bytes).sum() == 12_502_500)
        var commented = zip()
        commented.comment = Array("PK\u{5}\u{6} is what the end of a zip begins with.".utf8)
        #expect(try open(commented.bytes).sum() == 12_502_500)
    }

    @Test func `reads what Python writes`() throws {
        try folder.write(content, as: "plain.db")
        let program =
            "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED); z.write(sys.argv[2], sys.argv[3]); z.close()"
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-c", program, folder.path("python.zip"), folder.path("plain.db"), Self.name]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        let stamp = try #require(FileStamp(of: folder.path("python.zip")))
        #expect(try ExportDatabase(copying: stamp, entry: Self.name).sum() == 12_502_500)
    }

    @Test func `a zip that is cut anywhere is torn`() throws {
        let bytes = zip().bytes
        var length = bytes.count - 1
        while length > 0 {
            #expect(try code(Array(bytes.prefix(length))) == .torn, "\(length)")
            length -= max(1, bytes.count / 97)
        }
    }

    @Test func `a zip with a damaged byte gives the whole database or none`() throws {
        let bytes = zip { $0.hasDescriptor = false }.bytes
        for place in stride(from: 0, to: bytes.count, by: bytes.count / 211) {
            var other = bytes
            other[place] ^= 0x41
            if let database = try? open(other) { #expect(try database.sum() == 12_502_500, "\(place)") }
        }
    }

    @Test func `refuses another app's zip, a doubled entry, encryption and other packings`() throws {
        #expect(try code(zip { $0.name = "database/Other" }.bytes) == .foreign)
        #expect(try code(zip { $0.name = "../database/Gadgetbridge" }.bytes) == .foreign)
        #expect(try code(zip { $0.flags = 1 }.bytes) == .foreign)
        #expect(try code(zip { $0.method = 12 }.bytes) == .foreign)
        var doubled = zip()
        doubled.entries.append(doubled.entries[1])
        #expect(try code(doubled.bytes) == .foreign)
    }

    @Test func `refuses an entry that is larger than any export, or than its list says`() throws {
        #expect(try code(zip { ($0.isLarge, $0.claimedSize) = (true, 5 << 30) }.bytes) == .tooLarge)
        #expect(try code(zip { $0.claimedSize = content.count - 1 }.bytes) == .torn)
        #expect(try code(zip { $0.claimedSize = content.count + 1 }.bytes) == .torn)
        // Four million zeros pack a thousand times.
        #expect(try code(zip { $0.content = [UInt8](repeating: 0, count: 4 << 20) }.bytes) == .tooLarge)
    }

    @Test func `says whether an entry is too large or packed too densely`() throws {
        func message(_ bytes: [UInt8]) -> String? {
            #expect(throws: ExportError.self) { _ = try open(bytes) }?.message
        }
        let large = message(zip { ($0.isLarge, $0.claimedSize) = (true, 5 << 30) }.bytes)
        #expect(large?.hasSuffix("is larger than any export.") == true, "\(large ?? "")")
        let dense = message(zip { $0.content = [UInt8](repeating: 0, count: 4 << 20) }.bytes)
        #expect(
            dense?.hasSuffix("unpacks to more than 200 times its size, as no export does.") == true, "\(dense ?? "")")
    }

    @Test func `nothing of an export is left on disk`() throws {
        func copies() throws -> [String] {
            let place = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/var/tmp"
            let mine = "vitals2mqtt-export-"
            return try FileManager.default.contentsOfDirectory(atPath: place).filter { $0.hasPrefix(mine) }
        }
        let private_ = try PrivateFile()
        let mode = try FileManager.default.attributesOfItem(atPath: private_.path)[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o600)
        let database = try open(zip().bytes)
        #expect(try database.sum() == 12_502_500)
        // Other tests may have copies for a moment; this one's is gone while it is in use.
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }
        #expect(open.contains { $0.contains("vitals2mqtt-export-") && $0.hasSuffix("(deleted)") })
        _ = try copies()
    }
}
