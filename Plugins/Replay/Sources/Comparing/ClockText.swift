/// Recognises moments in text: what a gateway writes differently at another time.
///
/// A moment is Unix time in seconds or milliseconds, 10 to 13 digits from 1000000000 (the year 2001) on, or a date with a time of RFC
/// 3339, such as `2026-01-01`, `2026-01-01T00:00:00.5Z` or `2026-01-01T00:00:00+01:00`. Any moment matches any other one.
enum ClockText {
    private static let day = Array("0000-00-00".utf8)
    private static let time = Array("T00:00:00".utf8)

    /// Where a moment ends that begins at this index; `nil` if none begins there.
    static func end(_ text: [UInt8], from index: Int) -> Int? {
        // A part of a longer number is no moment.
        guard index == 0 || !isDigit(text[index - 1]) else { return nil }
        return unixTime(text[index...]) ?? date(text[index...])
    }

    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

    private static func unixTime(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard let first = bytes.first, first != UInt8(ascii: "0") else { return nil }
        let count = bytes.prefix(14).prefix(while: isDigit).count
        return (10...13).contains(count) ? bytes.startIndex + count : nil
    }

    /// The bytes after a text of this form; `nil` if they do not begin with one. A `0` of the form stands for any digit.
    private static func dropping(_ form: [UInt8], from bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard bytes.count >= form.count else { return nil }
        let isOfForm = zip(bytes, form).allSatisfy { byte, sign in
            sign == UInt8(ascii: "0") ? isDigit(byte) : byte == sign
        }
        return isOfForm ? bytes.dropFirst(form.count) : nil
    }

    private static func date(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard var rest = dropping(day, from: bytes) else { return nil }
        guard let afterTime = dropping(time, from: rest) else { return rest.startIndex }
        rest = afterTime
        if rest.first == UInt8(ascii: ".") { rest = rest.dropFirst().drop(while: isDigit) }
        if rest.first == UInt8(ascii: "Z") { return rest.startIndex + 1 }
        let offset = Array(rest.prefix(6))
        guard offset.count == 6, offset[0] == UInt8(ascii: "+") || offset[0] == UInt8(ascii: "-"),
            offset[3] == UInt8(ascii: ":"), [1, 2, 4, 5].allSatisfy({ isDigit(offset[$0]) })
        else { return rest.startIndex }
        return rest.startIndex + 6
    }
}
