import CZlib

/// Unpacks a stream of "deflate" (RFC 1951) in bounded memory. zlib does it: code of our own would be one more parser of foreign bytes.
final class Inflater {
    private static let chunk = 256 * 1024

    // zlib keeps a pointer to it, so it must not move.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private(set) var isFinished = false

    init() throws(ExportError) {
        stream.initialize(to: z_stream())
        // Negative: raw data without a header of zlib's own.
        let status = inflateInit2_(stream, -MAX_WBITS, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else {
            throw ExportError(.unavailable, "zlib cannot begin (\(status)); there may be no memory left.")
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Unpacks the next bytes, and hands the result on in pieces. Returns `false` if they are damaged, or follow the end.
    func feed(_ bytes: [UInt8], _ put: (UnsafeRawBufferPointer) throws(ExportError) -> Void) throws(ExportError) -> Bool
    {
        var output = [UInt8](repeating: 0, count: Self.chunk)
        var consumed = 0
        while !isFinished {
            guard let made = step(bytes, from: &consumed, into: &output) else { return false }
            if made > 0 {
                do { try output.withUnsafeBytes { try put(UnsafeRawBufferPointer(rebasing: $0[..<made])) } } catch let
                    error as ExportError
                { throw error } catch { throw ExportError(.unavailable, "\(error)") }
            }
            if !isFinished, made < Self.chunk, consumed == bytes.count { return true }
        }
        return consumed == bytes.count
    }

    /// Unpacks as much of the bytes, from `consumed` on, as there is room for. Returns how many bytes it made; `nil` if they are damaged.
    func step(_ bytes: [UInt8], from consumed: inout Int, into output: inout [UInt8]) -> Int? {
        let start = consumed
        let status: Int32 = bytes.withUnsafeBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                // zlib only reads there.
                stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)?.advanced(by: start)
                stream.pointee.avail_in = UInt32(input.count - start)
                stream.pointee.next_out = output.baseAddress
                stream.pointee.avail_out = UInt32(output.count)
                return inflate(stream, Z_NO_FLUSH)
            }
        }
        guard status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR else { return nil }
        consumed = bytes.count - Int(stream.pointee.avail_in)
        isFinished = status == Z_STREAM_END
        return output.count - Int(stream.pointee.avail_out)
    }
}
