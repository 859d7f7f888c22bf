import CZlib

/// Unpacks what an app sends with `Content-Encoding: gzip` (RFC 1952), by zlib.
enum Gzip: Sendable, Equatable {
    case content([UInt8])
    /// It is longer than it may be.
    case tooLarge
    /// It is no gzip, or cut, or something follows it.
    case damaged

    private static let chunk = 64 << 10

    /// Unpacks bytes, up to a number of them: a few may stand for very many.
    static func unpack(_ packed: [UInt8], upTo maximum: Int) -> Gzip {
        // zlib keeps a pointer to it, so it must not move.
        var stream = z_stream()
        return withUnsafeMutablePointer(to: &stream) { stream in
            // 16 more: with the head and the check sum of gzip.
            let size = Int32(MemoryLayout<z_stream>.size)
            guard inflateInit2_(stream, MAX_WBITS + 16, ZLIB_VERSION, size) == Z_OK else { return .damaged }
            defer { inflateEnd(stream) }
            return packed.withUnsafeBufferPointer { input in
                // It is only read: zlib's type has no word for that.
                stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                stream.pointee.avail_in = UInt32(clamping: input.count)
                return content(of: stream, upTo: maximum)
            }
        }
    }

    private static func content(of stream: UnsafeMutablePointer<z_stream>, upTo maximum: Int) -> Gzip {
        var content: [UInt8] = []
        var output = [UInt8](repeating: 0, count: chunk)
        while true {
            let status = output.withUnsafeMutableBufferPointer { output in
                stream.pointee.next_out = output.baseAddress
                stream.pointee.avail_out = UInt32(output.count)
                return inflate(stream, Z_NO_FLUSH)
            }
            content += output[..<(chunk - Int(stream.pointee.avail_out))]
            if content.count > maximum { return .tooLarge }
            switch status {
            case Z_OK: continue
            case Z_STREAM_END: return stream.pointee.avail_in == 0 ? .content(content) : .damaged
            default: return .damaged
            }
        }
    }
}
