/// A recording of the scripted ring.
package struct O2Recording: Sendable {
    /// Year, month, day, hour, minute, second.
    package var start: [Int]
    package var count: Int
    package var interval: Int
    package var version: UInt8
    /// What the head says; `nil` for the truth.
    package var duration: Int?
    package var size: Int?

    /// A recording with a value of oxygen and of the pulse each `interval` seconds.
    /// - Parameter start: year, month, day, hour, minute, second.
    package init(
        start: [Int] = [2026, 3, 10, 2, 0, 0], count: Int = 1500, interval: Int = 4, version: UInt8 = 3,
        duration: Int? = nil, size: Int? = nil
    ) {
        (self.start, self.count, self.interval, self.version) = (start, count, interval, version)
        (self.duration, self.size) = (duration, size)
    }

    /// The name that a ring gives to it.
    package var name: String {
        start.enumerated().map { index, number in
            let text = "\(number)"
            return String(repeating: "0", count: (index == 0 ? 4 : 2) - text.count) + text
        }.joined()
    }

    package static func oxygen(_ index: Int) -> UInt8 { index % 50 == 7 ? 255 : UInt8(90 + index % 10) }
    package static func pulse(_ index: Int) -> UInt8 { UInt8(50 + index % 60) }

    package var content: [UInt8] {
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
