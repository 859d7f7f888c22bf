/// Limits of a zip, which may be damaged or made to exhaust memory or disk.
package enum ZipLimits {
    /// Bytes of the list of entries: 100,000 entries with long names. It is in memory while it is searched.
    package static let directory = 32 * 1024 * 1024
    /// Compressed bytes of an entry: the longest exports seen are below a tenth of it.
    package static let compressed: Int64 = 2 << 30
    /// Bytes of an entry once unpacked: a database of decades.
    package static let uncompressed: Int64 = 4 << 30
    /// How many times larger than its packed form an entry may be. Databases pack 3 to 10 times smaller, and empty ones up
    /// to a hundred times; the format allows 1,032.
    package static let ratio: Int64 = 200
    /// The size below which the ratio says nothing.
    static let alwaysAllowed: Int64 = 1 << 20
}
