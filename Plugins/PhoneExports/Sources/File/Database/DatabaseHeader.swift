/// The header of an SQLite file, which describes the whole file (the file format's section 1.3).
struct DatabaseHeader {
    /// The bytes that it needs.
    static let length = 100
    /// The first bytes of every SQLite 3 file.
    static let magic = Array("SQLite format 3\0".utf8)

    private let bytes: ByteView

    /// `nil` if the bytes do not begin an SQLite file.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.length, bytes.starts(with: Self.magic) else { return nil }
        self.bytes = ByteView(bytes)
    }

    /// Whether a file of this length can be whole: it has full pages, and as many as the header counts.
    func fits(length: Int64) -> Bool {
        guard let code = big(16, 2), let counted = big(28, 4), let change = big(24, 4), let valid = big(92, 4) else {
            return false
        }
        let page = code == 1 ? 65_536 : code
        guard page >= 512, page & (page - 1) == 0, length > 0, length % page == 0 else { return false }
        // The count holds only if the version that wrote it also wrote the rest of the header.
        guard counted != 0, change == valid else { return true }
        return counted * page == length
    }

    private func big(_ at: Int, _ count: Int) -> Int64? {
        bytes.slice(at, count)?.reduce(0) { $0 << 8 | Int64($1) }
    }
}
