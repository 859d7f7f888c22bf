import Foundation
import Glibc
import Testing

@testable import Gateway

@Suite struct ProgramPagesTests {
    @Test func `only what a file has is dropped`() {
        let smaps = """
            1000-2000 r-xp 00000000 08:01 12       /usr/bin/program
            Size:                  4 kB
            Anonymous:             0 kB
            Swap:                  0 kB
            VmFlags: rd ex mr mw me
            2000-3000 r--p 00001000 08:01 12       /usr/bin/program
            Anonymous:             4 kB
            Swap:                  0 kB
            3000-4000 r--p 00002000 08:01 12       /usr/bin/program
            Anonymous:             0 kB
            Swap:                  4 kB
            4000-5000 rw-p 00003000 08:01 12       /usr/bin/program
            Anonymous:             0 kB
            5000-6000 r--p 00000000 00:00 0
            Anonymous:             0 kB
            6000-7000 r-xp 00000000 00:00 0        [vdso]
            Anonymous:             0 kB
            7000-8000 r--s 00000000 08:01 13       /var/lib/file
            Anonymous:             0 kB
            7fff00000000-7fff00009000 r--p 00000000 08:01 14       /usr/lib/a library.so
            Anonymous:             0 kB
            """
        #expect(
            ProgramPages.mappings(in: Array(smaps.utf8)) == [
                .init(start: 0x1000, end: 0x2000), .init(start: 0x7fff_0000_0000, end: 0x7fff_0000_9000),
            ])
    }

    @Test func `only libraries and the program are dropped, which stay mapped`() {
        for path in ["/usr/lib/libc.so.6", "/opt/swift/libFoundation.so", "/lib/libstdc++.so.6.0.33"] {
            #expect(ProgramPages.isLibrary(path))
        }
        for path in ["/etc/ld.so.cache", "/usr/lib/locale/C.utf8/LC_CTYPE", "/var/lib/some.so/file", ""] {
            #expect(!ProgramPages.isLibrary(path))
        }
        let smaps = """
            1000-2000 r-xp 00000000 08:01 12       /usr/lib/libc.so.6
            Anonymous:             0 kB
            2000-3000 r--p 00000000 08:01 13       /etc/ld.so.cache
            Anonymous:             0 kB
            """
        let found = ProgramPages.mappings(in: Array(smaps.utf8), where: ProgramPages.isLibrary)
        #expect(found == [.init(start: 0x1000, end: 0x2000)])
    }

    @Test(arguments: ["", "\n", "nonsense", "Size: 4 kB", "1000 r-xp 0 08:01 12 /x", "2000-1000 r-xp 0 08:01 1 /x"])
    func `a text in another form drops nothing`(_ text: String) {
        #expect(ProgramPages.mappings(in: Array(text.utf8)).isEmpty)
    }

    @Test func `what was dropped is read again from the file`() throws {
        let mapped = try MappedFile()
        defer { mapped.unmap() }
        #expect(mapped.sum == mapped.expected)
        mprotect(mapped.address, MappedFile.size, PROT_READ)
        #expect(try mapped.resident() > 0)
        #expect(mapped.isDroppable())
        ProgramPages.releasePages(mapped.mapping)
        #expect(try mapped.resident() == 0)
        #expect(mapped.sum == mapped.expected)
    }

    @Test func `what was changed before it became read-only stays`() throws {
        let mapped = try MappedFile()
        defer { mapped.unmap() }
        mapped.address.storeBytes(of: 7, as: UInt8.self)
        mprotect(mapped.address, MappedFile.size, PROT_READ)
        #expect(!mapped.isDroppable())
    }
}

/// A private mapping of a file with a pattern.
private struct MappedFile {
    static let size = 64 << 10
    let address: UnsafeMutableRawPointer
    let expected: Int

    init() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "pages-\(UUID().uuidString)")
        let bytes = (0..<Self.size).map { UInt8(truncatingIfNeeded: $0 / 3) }
        try Data(bytes).write(to: file)
        defer { unlink(file.path) }
        let descriptor = open(file.path, O_RDONLY)
        defer { close(descriptor) }
        expected = bytes.reduce(0) { $0 + Int($1) }
        address = try #require(mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_PRIVATE, descriptor, 0))
        try #require(address != MAP_FAILED)
    }

    var mapping: ProgramPages.Mapping {
        let start = UInt(bitPattern: address)
        return ProgramPages.Mapping(start: start, end: start + UInt(Self.size))
    }

    var sum: Int { (0..<Self.size).reduce(0) { $0 + Int(address.load(fromByteOffset: $1, as: UInt8.self)) } }

    /// Whether this process would drop it.
    func isDroppable() -> Bool { ProgramPages.mappings(in: smaps).contains(mapping) }

    /// Its kilobytes in memory.
    func resident() throws -> Int {
        let lines = String(decoding: smaps, as: UTF8.self).split(separator: "\n")
        let begin = try #require(lines.firstIndex { $0.hasPrefix(String(mapping.start, radix: 16) + "-") })
        let line = try #require(lines[begin...].first { $0.hasPrefix("Rss:") })
        return try #require(Int(line.split(separator: " ")[1]))
    }

    func unmap() { munmap(address, Self.size) }

    private var smaps: [UInt8] { ProgramPages.read("/proc/self/smaps") }
}
