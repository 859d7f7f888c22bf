import GatewayKit
import TestSupport
import Testing
import Vitals

@testable import ColmiRing

/// Reads and writes captured packets.
@Suite struct FormatTests {
    private func expect(_ expected: ReplyProgress, _ progress: ReplyProgress) throws { #expect(progress == expected) }

    @Test func `reads a packet, and refuses one that is cut, longer or damaged`() throws {
        let packet = try RingPacket(RingCaptures.battery)
        #expect(packet.command == 3)
        #expect(packet.data[0] == 64)
        #expect(packet.bytes == RingCaptures.battery)
        #expect(throws: FormatError.self) { try RingPacket(Array(RingCaptures.battery.dropLast())) }
        #expect(throws: FormatError.self) { try RingPacket(RingCaptures.battery + [0]) }
        for position in 0..<16 {
            var damaged = RingCaptures.battery
            damaged[position] ^= 0x10
            #expect(throws: FormatError.self) { try RingPacket(damaged) }
        }
    }

    @Test func `sets the clock as other implementations do`() throws {
        let zone = RingZone(offset: 0)
        let newYear = Timestamp(seconds: 1_704_067_200)
        #expect(try RingRequest.time(newYear, zone).bytes == RingCaptures.timeOfNewYear)
        #expect(try RingRequest.time(newYear + .hours(4), zone).bytes == RingCaptures.timeFourHoursLater)
        // The same packet means another moment in another zone.
        #expect(try RingRequest.time(newYear, RingZone(offset: 240)).bytes == RingCaptures.timeFourHoursLater)
        #expect(try RingRequest.time(newYear + .hours(5), RingZone(offset: -300)).bytes == RingCaptures.timeOfNewYear)
        // bluering, from the vendor's app: 22 October 2024, 23:18:56 in Berlin.
        let captured = Timestamp(seconds: 1_729_631_936)
        #expect(
            try RingRequest.time(captured, RingZone(offset: 120)).data.prefix(6) == [
                0x24, 0x10, 0x22, 0x23, 0x18, 0x56,
            ])
    }

    @Test(arguments: [Timestamp(seconds: 946_684_799), Timestamp(seconds: 4_102_444_800)])
    func `does not set a clock to a year that it cannot show`(moment: Timestamp) {
        #expect(throws: FormatError.self) { try RingRequest.time(moment, RingZone(offset: 0)) }
    }

    @Test func `asks for a day by its first second`() {
        // 2024-08-10, as in the log of tahnok's tests.
        let packet = RingRequest.heartRates(of: LocalDay(number: 19_945))
        #expect(packet.data.prefix(4) == [0x80, 0xad, 0xb6, 0x66])
    }

    @Test func `asks for messages with the bytes of other implementations`() {
        #expect(BigMessage.request(BigMessage.oxygen) == bytes("bc 2a 01 00 ff 00 ff"))
        #expect(BigMessage.request(BigMessage.sleep) == bytes("bc 27 01 00 ff 00 ff"))
        #expect(BigMessage.request(BigMessage.temperature) == bytes("bc 25 01 00 3e 81 02"))
    }

    @Test func `reads a captured day of heart rates, in any order`() throws {
        for packets in [
            RingCaptures.heartRates, RingCaptures.heartRates.reversed(),
            RingCaptures.heartRates + RingCaptures.heartRates,
        ] {
            var reply = DayLogReply(RingRequest.heartRateLog)
            var progress = ReplyProgress.unrelated
            for packet in packets {
                let next = reply.collect(.packet(try RingPacket(packet)))
                if next != .unrelated { progress = next }
            }
            #expect(progress == .done)
            let log = try DayLog(reply, .second)
            #expect(log.interval == 5)
            #expect(log.second == 1_730_347_200)
            #expect(log.values.count == 288)
            // What tahnok's tests expect: 104 at 00:30, 111 at 01:00, 66 at 02:00, then 54 values.
            #expect(log.values.enumerated().filter { $1 > 0 }.map(\.offset).prefix(3) == [6, 12, 24])
            #expect(log.values[6] == 104)
            #expect(log.values[180..<234].prefix(5) == [89, 91, 89, 74, 89])
            #expect(log.values[180..<234].allSatisfy { $0 > 0 })
            #expect(log.values[264..<269] == [70, 84, 113, 75, 111])
        }
    }

    @Test func `a log without a part is not whole, and one without data is empty`() throws {
        for lost in 0..<24 {
            var reply = DayLogReply(RingRequest.heartRateLog)
            for (number, packet) in RingCaptures.heartRates.enumerated() where number != lost {
                try expect(.more, reply.collect(.packet(RingPacket(packet))))
            }
        }
        var empty = DayLogReply(RingRequest.heartRateLog)
        try expect(.done, empty.collect(.packet(RingPacket(RingCaptures.noHeartRates))))
        #expect(empty.isEmpty)
    }

    @Test func `reads captured steps`() throws {
        var reply = StepReply()
        try expect(.more, reply.collect(.packet(RingPacket(RingCaptures.steps[0]))))
        try expect(.done, reply.collect(.packet(RingPacket(RingCaptures.steps[1]))))
        let day = try #require(LocalDay(year: 2024, month: 10, day: 15))
        #expect(reply.records == [StepRecord(day: day, quarter: 92, steps: 21, metres: 16, energy: 121)])
        #expect(reply.hasTens)
        var whole = StepReply()
        for packet in RingCaptures.dayOfSteps.shuffled() { _ = whole.collect(.packet(try RingPacket(packet))) }
        #expect(whole.records.map(\.quarter) == [16, 20, 24, 28, 76])
        #expect(whole.records.map(\.steps) == [48, 1194, 225, 108, 99])
        #expect(whole.records.map(\.metres) == [27, 873, 149, 72, 68])
        var none = StepReply()
        try expect(.done, none.collect(.packet(RingPacket(RingCaptures.noSteps))))
        #expect(none.isEmpty)
    }

    @Test(arguments: [1, 2, 19, 20, 57]) func `puts a message together from pieces of any length`(size: Int) throws {
        var assembler = BigMessageAssembler()
        var messages: [BigMessage] = []
        for start in stride(from: 0, to: RingCaptures.sleep.count, by: size) {
            let piece = Array(RingCaptures.sleep[start..<min(start + size, RingCaptures.sleep.count)])
            if let message = try assembler.append(piece) { messages.append(message) }
        }
        #expect(messages.map(\.type) == [BigMessage.sleep])
        #expect(messages.first?.body.count == 51)
    }

    @Test func `a damaged message, and a piece without one, are refused`() throws {
        var assembler = BigMessageAssembler()
        #expect(throws: FormatError.self) { try assembler.append([1, 2, 3]) }
        for position in 6..<57 {
            var damaged = RingCaptures.sleep
            damaged[position] ^= 1
            #expect(throws: FormatError.self) { try assembler.append(damaged) }
        }
        // What follows is read again.
        #expect(try assembler.append(RingCaptures.sleep) != nil)
    }

    @Test func `reads a captured night`() throws {
        let records = try SleepRecord.records(in: Array(RingCaptures.sleep.dropFirst(6)))
        let night = try #require(records.first)
        #expect(records.count == 1)
        #expect((night.daysAgo, night.start, night.end) == (0, 1343 - 1440, 542))
        #expect(night.stages.count == 22)
        #expect(night.stages.reduce(0) { $0 + $1.minutes } == 639)
        #expect(night.stages.prefix(3).map(\.depth) == [.light, .deep, .awake])
        #expect(night.stages.prefix(3).map(\.minutes) == [54, 17, 17])
    }

    @Test(arguments: ["01", "01 00 30 3f", "01 00 03 3f 05 1e", "01 00 04 ff ff 00 00", "02 00 04 01 00 02 00"])
    func `a sleep that is cut or impossible is refused`(body: String) {
        #expect(throws: FormatError.self) { try SleepRecord.records(in: bytes(body)) }
    }

    @Test func `reads days of blood oxygen and temperature, and refuses parts of days`() throws {
        let oxygen = try OxygenDay.days(in: Array(RingMessages.oxygen.dropFirst(6)))
        #expect(oxygen.map(\.daysAgo) == [1, 0])
        #expect(oxygen[0].hours[1] == OxygenDay.Hour(lowest: 91, highest: 97))
        #expect(oxygen[1].hours[3] == OxygenDay.Hour(lowest: 98, highest: 98))
        let temperatures = try TemperatureDay.days(in: Array(RingMessages.temperature.dropFirst(6)))
        #expect(temperatures.map(\.daysAgo) == [1, 0])
        #expect(TemperatureDay.celsius(150) == 35)
        #expect(TemperatureDay.celsius(151) == 35.1)
        // Above 127: a number without a sign.
        #expect(TemperatureDay.celsius(0xa5) == 36.5)
        #expect(throws: FormatError.self) { try OxygenDay.days(in: Array(repeating: 0, count: 48)) }
        #expect(throws: FormatError.self) { try TemperatureDay.days(in: Array(repeating: 0, count: 51)) }
        #expect(throws: FormatError.self) { try TemperatureDay.days(in: Array(repeating: 0, count: 50)) }
    }
}
