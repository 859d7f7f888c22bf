import Foundation
import Glibc

/// The memory that the process holds only because its start needed it: code that ran once, and freed memory that the
/// allocator keeps.
enum ProgramPages {
    /// A mapping of a file into memory that may not be written and has no private content: each page that is dropped
    /// is in the file.
    struct Mapping: Hashable {
        var start: UInt
        var end: UInt
    }

    /// `malloc_trim(3)`, which Swift's module of the C library lacks.
    private static let trimHeap: (@convention(c) (_ kept: Int) -> CInt)? = dlsym(nil, "malloc_trim").map {
        unsafeBitCast($0, to: (@convention(c) (Int) -> CInt).self)
    }

    /// Gives both back to the system. Code that runs again is mapped again from the system's cache of the file.
    static func releasePages() {
        _ = trimHeap?(0)
        let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let found = mappings(in: read("/proc/self/smaps")) { $0 == program || isLibrary($0) }
        for mapping in found { releasePages(mapping) }
    }

    /// Whether a path is that of a shared library, such as `/usr/lib/libc.so.6`. Libraries stay mapped until the end. Other files
    /// may be unmapped meanwhile, and their place may be other memory now, which must not be dropped.
    static func isLibrary(_ path: String) -> Bool {
        let name = path.split(separator: "/").last ?? ""
        return name.hasSuffix(".so") || name.firstRange(of: #/\.so\.[0-9]/#) != nil
    }

    /// Drops the pages of a mapping from memory.
    static func releasePages(_ mapping: Mapping) {
        madvise(UnsafeMutableRawPointer(bitPattern: mapping.start), Int(mapping.end - mapping.start), MADV_DONTNEED)
    }

    /// The mappings in a text in the format of `/proc/PID/smaps` (proc(5)) that can be dropped. A page that was changed
    /// before its mapping became read-only, as by the dynamic linker, is anonymous, or swapped out.
    static func mappings(in smaps: [UInt8], where isWanted: (_ path: String) -> Bool = { _ in true }) -> [Mapping] {
        var found: [Mapping] = []
        var current: Mapping?
        for line in smaps.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
            guard let first = words.first, words.count > 1 else { continue }
            guard first.last == UInt8(ascii: ":") else {
                if let current { found.append(current) }
                current = mapping(words, where: isWanted)
                continue
            }
            let isOwn = first.elementsEqual("Anonymous:".utf8) || first.elementsEqual("Swap:".utf8)
            if isOwn, !words[1].elementsEqual("0".utf8) { current = nil }
        }
        if let current { found.append(current) }
        return found
    }

    /// The content of a file whose length the system does not say, as those of `/proc`; empty if it cannot be read.
    static func read(_ path: String) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(descriptor, &part, part.count)
            guard count > 0 else { return count == 0 ? bytes : [] }
            bytes += part[..<count]
        }
    }

    /// The mapping of a line such as `55d0c0000000-55d0c0400000 r-xp 00000000 08:01 12345 /usr/bin/program`, if it is
    /// a private, read-only one of a file.
    private static func mapping(_ words: [ArraySlice<UInt8>], where isWanted: (String) -> Bool) -> Mapping? {
        guard words.count == 6 else { return nil }
        let path = String(decoding: words[5].drop { $0 == UInt8(ascii: " ") }, as: UTF8.self)
        guard path.hasPrefix("/"), isWanted(path),
            words[1].elementsEqual("r-xp".utf8) || words[1].elementsEqual("r--p".utf8)
        else { return nil }
        let range = words[0].split(separator: UInt8(ascii: "-")).compactMap { word in
            UInt(String(decoding: word, as: UTF8.self), radix: 16)
        }
        guard range.count == 2, range[0] < range[1] else { return nil }
        return Mapping(start: range[0], end: range[1])
    }
}
