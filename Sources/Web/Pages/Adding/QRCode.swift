import CQREncode

/// A text as a QR code (ISO/IEC 18004), by libqrencode.
enum QRCode {
    /// The most bytes of a text: a code of this size is still read from a screen by a phone.
    static let maximumBytes = 512
    /// The free modules around a code (ISO/IEC 18004, 5.3.8).
    private static let margin = 4

    /// The code as an `svg` element of black squares; `nil` for a text that is too long.
    static func svg(_ text: String) -> String? {
        guard text.utf8.count <= maximumBytes, !text.utf8.contains(0), !text.isEmpty,
            let code = QRcode_encodeString8bit(text, 0, QR_ECLEVEL_M)
        else { return nil }
        defer { QRcode_free(code) }
        let width = Int(code.pointee.width)
        guard let modules = code.pointee.data else { return nil }
        let rows = (0..<width).map { row in
            path(UnsafeBufferPointer(start: modules + row * width, count: width), at: row)
        }
        let size = width + 2 * margin
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(size) \(size)" shape-rendering="crispEdges">\
            <path d="\(rows.joined())"/></svg>
            """
    }

    /// The dark modules of a row, those beside each other as one rectangle. The lowest bit of each says whether it is dark.
    private static func path(_ modules: UnsafeBufferPointer<UInt8>, at row: Int) -> String {
        var path = ""
        var column = 0
        while column < modules.count {
            let start = column
            while column < modules.count, modules[column] & 1 == 1 { column += 1 }
            if column > start { path += "M\(start + margin) \(row + margin)h\(column - start)v1h-\(column - start)z" }
            column += 1
        }
        return path
    }
}
