/// One entry of a zip, by the list at the zip's end. That list always has the sizes, also where the entry's own header leaves
/// them to a data descriptor behind it.
struct ZipEntry: Sendable, Hashable {
    /// How the bytes are stored.
    enum Method: UInt16, Sendable { case stored = 0, deflated = 8 }

    var name: [UInt8]
    var method: Method
    var checksum: UInt32
    var compressed: Int64
    var uncompressed: Int64
    /// Where its own header begins.
    var offset: Int64
}
