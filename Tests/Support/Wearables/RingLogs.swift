import Synchronization
package import Vitals

/// The logs of a scripted ring. Its values follow from the true time, and their places from what its clock shows.
package struct RingLogs {
    private let ring: ScriptedRing
    private let shown: Int64
    private let offset: Int64

    init(_ ring: ScriptedRing) {
        self.ring = ring
        shown = ring.shown
        offset = ring.state.withLock { $0.offset }
    }

    /// What the ring measures at a true second; 0 if it was not worn.
    package static func value(at second: Int64, worn: Timestamp) -> UInt8 {
        guard second >= worn.milliseconds / 1000, second % 1800 == 0 else { return 0 }
        return UInt8(50 + second / 1800 % 40)
    }

    /// The least oxygen of the hour that begins at a true second, in per cent; 0 if the ring was not worn.
    package static func oxygen(at second: Int64, worn: Timestamp) -> UInt8 {
        value(at: second, worn: worn) == 0 ? 0 : UInt8(80 + second / 3600 % 20)
    }

    /// The temperature at a true second, in tenths of a degree above 20 °C; 0 if the ring was not worn.
    package static func temperature(at second: Int64, worn: Timestamp) -> UInt8 {
        value(at: second, worn: worn) == 0 ? 0 : UInt8(100 + second / 1800 % 60)
    }

    /// A slot that is not over has the value of another day: 199.
    private func slot(_ place: Int64, _ length: Int64) -> UInt8 {
        place + length > shown ? 199 : Self.value(at: place - offset, worn: ring.worn)
    }

    func heartRates(second: Int64) -> [[UInt8]] {
        let midnight = second - second % 86_400
        guard midnight + 86_400 > ring.worn.milliseconds / 1000 + offset else { return [[0x15, 0xff]] }
        var values: [UInt8] = []
        for number in 0..<288 { values.append(slot(midnight + Int64(number) * 300, 300)) }
        let stamp = (0..<4).map { UInt8(truncatingIfNeeded: second >> (8 * Int64($0))) }
        return packets(0x15, [24, 5], stamp, values)
    }

    func stress(daysAgo: Int64) -> [[UInt8]] {
        let midnight = shown - shown % 86_400 - daysAgo * 86_400
        guard midnight + 86_400 > ring.worn.milliseconds / 1000 + offset else { return [[0x37, 0xff]] }
        var values: [UInt8] = []
        for number in 0..<48 { values.append(slot(midnight + Int64(number) * 1800, 1800)) }
        return packets(0x37, [5, 30], [30], values)
    }

    /// A log in numbered packets, of which the first with values has some bytes before them.
    private func packets(_ command: UInt8, _ header: [UInt8], _ heading: [UInt8], _ values: [UInt8]) -> [[UInt8]] {
        var packets: [[UInt8]] = [[command, 0] + header]
        var rest = heading + values
        while !rest.isEmpty {
            let number = UInt8(packets.count)
            packets.append([command, number] + Array(rest.prefix(13)))
            rest.removeFirst(min(13, rest.count))
        }
        return packets
    }

    /// Hours with steps: as many as the hour's first value, and one in an hour that is not over.
    func steps(daysAgo: Int64) -> [[UInt8]] {
        let midnight = shown - shown % 86_400 - daysAgo * 86_400
        var hours: [(hour: UInt8, steps: UInt8)] = []
        for hour in 0..<24 {
            let place = midnight + Int64(hour) * 3600
            let steps = RingLogs.value(at: place - offset, worn: ring.worn)
            if place < shown, steps > 0 { hours.append((UInt8(hour), place + 3600 > shown ? 1 : steps)) }
        }
        guard !hours.isEmpty else { return [[0x43, 0xff]] }
        let date = LocalDay(number: Int(midnight / 86_400)).description.split(separator: "-").compactMap { Int($0) }
        let digits: [UInt8] = [date[0] - 2000, date[1], date[2]].map { number -> UInt8 in
            UInt8(number / 10) * 16 + UInt8(number % 10)
        }
        var packets: [[UInt8]] = [[0x43, 0xf0, UInt8(hours.count), 1]]
        for (index, row) in hours.enumerated() {
            var packet: [UInt8] = [0x43]
            packet += digits
            packet += [row.hour * 4, UInt8(index), UInt8(hours.count)]
            packet += [120, 0, row.steps, 0, 40, 0]
            packets.append(packet)
        }
        return packets
    }

    /// The message with the least and the most oxygen of each hour, which is never more than 99.
    func oxygen() -> [UInt8] {
        message(0x2a) { midnight in
            (0..<24).flatMap { (hour: Int) -> [UInt8] in
                let place = midnight + Int64(hour) * 3600
                let least: UInt8 = place + 3600 > shown ? 199 : Self.oxygen(at: place - offset, worn: ring.worn)
                return [least, least == 0 ? 0 : max(least, 99)]
            }
        }
    }

    /// The message with the temperature of each half hour.
    func temperatures() -> [UInt8] {
        message(0x25) { midnight in
            let values = (0..<48).map { (number: Int) -> UInt8 in
                let place = midnight + Int64(number) * 1800
                return place + 1800 > shown ? 199 : Self.temperature(at: place - offset, worn: ring.worn)
            }
            return [30] + values
        }
    }

    /// A message with the last seven days, if the ring was worn then, oldest first: how many days ago, and what it has of the day.
    private func message(_ type: UInt8, _ day: (_ midnight: Int64) -> [UInt8]) -> [UInt8] {
        var body: [UInt8] = []
        for daysAgo in (0..<7).reversed() {
            let midnight = shown - shown % 86_400 - Int64(daysAgo) * 86_400
            guard midnight + 86_400 > ring.worn.milliseconds / 1000 + offset else { continue }
            body.append(UInt8(daysAgo))
            body += day(midnight)
        }
        let sum = Self.checksum(body)
        let head = [0xbc, type, UInt8(body.count & 0xff), UInt8(body.count >> 8), UInt8(sum & 0xff), UInt8(sum >> 8)]
        return head + body
    }

    /// CRC-16/MODBUS: polynomial 8005 reflected, beginning with FFFF.
    package static func checksum(_ bytes: [UInt8]) -> UInt16 {
        var sum: UInt16 = 0xffff
        for byte in bytes {
            sum ^= UInt16(byte)
            for _ in 0..<8 {
                let isOdd = sum % 2 == 1
                sum >>= 1
                if isOdd { sum ^= 0xa001 }
            }
        }
        return sum
    }
}

/// Messages of the second service, with checksums that another implementation has computed.
package enum RingMessages {
    /// Yesterday's 24 hours, of which every fifth has none, and today's first four.
    package static let oxygen =
        bytes(
            """
            bc 2a 62 00 ba 07 01 00 00 5b 61 5c 61 5d 61 5e 61 00 00 60 61 61 61 5a 61 5b 61 00 00 5d 61 5e 61 5f 61 60 61
            00 00 5a 61 5b 61 5c 61 5d 61 00 00 5f 61 60 61 61 61 00 62 62 62 62 62 62 62 62
            """) + Array(repeating: 0, count: 40)
    /// Yesterday's 22:00, 22:30 and 23:30, and today's 0:00 and 0:30.
    package static let temperature =
        bytes("bc 25 64 00 87 67 01 1e") + Array(repeating: 0, count: 44) + bytes("96 97 00 99 00 1e a5 80")
        + Array(repeating: 0, count: 46)
}
