/// Bytes that are written as in a capture; spaces do not count.
func bytes(_ text: String) -> [UInt8] {
    let digits = text.filter { !$0.isWhitespace }.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

/// A recording of the scripted ring.
struct Recording: Sendable {
    /// Year, month, day, hour, minute, second.
    var start = [2026, 3, 10, 2, 0, 0]
    var count = 1500
    var interval = 4
    var version: UInt8 = 3
    /// What the head says; `nil` for the truth.
    var duration: Int?
    var size: Int?

    /// The name that a ring gives to it.
    var name: String {
        start.enumerated().map { index, number in
            let text = "\(number)"
            return String(repeating: "0", count: (index == 0 ? 4 : 2) - text.count) + text
        }.joined()
    }

    static func oxygen(_ index: Int) -> UInt8 { index % 50 == 7 ? 255 : UInt8(90 + index % 10) }
    static func pulse(_ index: Int) -> UInt8 { UInt8(50 + index % 60) }

    var content: [UInt8] {
        let size = size ?? 40 + 5 * count
        let duration = duration ?? count * interval
        var file: [UInt8] = [version, 0, UInt8(start[0] % 256), UInt8(start[0] / 256)]
        file += start.dropFirst().map { UInt8($0) }
        file += [UInt8(size % 256), UInt8(size / 256 % 256), UInt8(size / 65_536), 0]
        file += [UInt8(duration % 256), UInt8(duration / 256)]
        file += Array(repeating: 0, count: 25)
        for index in 0..<count {
            let oxygen = Self.oxygen(index)
            let pulse: [UInt8] = oxygen == 255 ? [255, 255] : [Self.pulse(index), 0]
            file.append(oxygen)
            file += pulse
            file += [3, 0]
        }
        return file
    }
}
