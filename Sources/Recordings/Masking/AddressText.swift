import Vitals

/// Recognises an address in text.
enum AddressText {
    /// Six pairs of digits with separators between them: `:` or `-`, or `_` as in the paths of BlueZ.
    static let length = 17
    /// A shorter end of some bytes is not held back as the beginning of an address: every letter from a to f would be. So the first
    /// two digits, which are a part of the maker's number, appear if a piece ends behind them.
    static let shortestBeginning = 3
    private static let separators = Array(":-_".utf8)

    /// How many of the first bytes, at most `length`, are those of an address.
    static func progress(of bytes: ArraySlice<UInt8>) -> Int {
        var separator: UInt8?
        var count = 0
        for byte in bytes.prefix(length) {
            if count % 3 == 2 {
                guard byte == separator ?? byte, separators.contains(byte) else { break }
                separator = byte
            } else {
                guard Hexadecimal.value(of: byte) != nil else { break }
            }
            count += 1
        }
        return count
    }
}
