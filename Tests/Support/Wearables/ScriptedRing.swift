package import GatewayKit
import Synchronization
package import Vitals

/// A ring with its own clock, which stores what it measures by what that clock shows. Its packets are made here and not by the plugin.
package final class ScriptedRing: Sendable {
    /// What it does wrong.
    package enum Fault: Sendable, Hashable {
        /// The parts of a log come backwards, and each of them twice.
        case disorder
        /// A part of the first requested log is lost or damaged.
        case lostPart, damagedPart
        /// A part of every log is lost.
        case alwaysLostPart
        /// It answers nothing to requests with this command.
        case silent(UInt8)
        /// It refuses requests with this command.
        case refuses(UInt8)
        /// It is not worn: a measurement has the error 1.
        case notWorn
        /// Its sensor finds nothing for a while: the error 2.
        case weakSignal
        /// Notices come between the parts.
        case notices
        /// Its first answer to a clock that is set is lost.
        case lostClockAnswer
    }

    /// What it keeps over its connections.
    package struct State: Sendable {
        /// What the clock shows, less the true time, in seconds.
        package var offset: Int64 = 0
        /// Each command of a setting and its value.
        package var settings: [UInt8: UInt8] = [0x2c: 1, 0x36: 0, 0x3a: 1]
        /// Whether it measures heart rates by itself, and after how many minutes each.
        package var heartRate: (isOn: Bool, minutes: UInt8) = (true, 30)
        /// The kind of the running measurement; `nil` if there is none.
        package var kind: UInt8?
        /// The times to which it was set.
        package var clocks: [Timestamp] = []
        var hasFailed = false
        /// The number of measurements that were started.
        package var values = 0
    }

    /// What it keeps over its connections.
    let state = Mutex(State())
    /// Reads or changes what it keeps.
    package func withState<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        try state.withLock { try body(&$0) }
    }
    let clock: GatewayClock
    let faults: Set<Fault>
    /// Since when it is worn: it measures at each full half hour.
    let worn: Timestamp
    /// The minutes of its clock's zone, in which the test reads what it is set to.
    let zone: Int
    private let hasMessages: Bool
    private let box = Mutex<ScriptedPeripheral?>(nil)

    package static let requests = BluetoothUUID("6e400002-b5a3-f393-e0a9-e50e24dcca9e") ?? BluetoothUUID(0)
    package static let replies = BluetoothUUID("6e400003-b5a3-f393-e0a9-e50e24dcca9e") ?? BluetoothUUID(0)
    package static let bigRequests = BluetoothUUID("de5bf72a-d711-4e47-af26-65e3012a5dc7") ?? BluetoothUUID(0)
    package static let bigReplies = BluetoothUUID("de5bf729-d711-4e47-af26-65e3012a5dc7") ?? BluetoothUUID(0)

    /// Creates a ring with a connection.
    /// - Parameter hasMessages: whether it has the second service, with sleep, oxygen and temperatures.
    package init(
        clock: GatewayClock, worn: Timestamp, zone: Int = 0, faults: Set<Fault> = [], radio: GATTFaults = .none,
        random: SplitMix64 = SplitMix64(seed: 1), hasMessages: Bool = true
    ) {
        (self.clock, self.worn, self.zone, self.faults) = (clock, worn, zone, faults)
        self.hasMessages = hasMessages
        connect(radio: radio, random: random)
    }

    /// Begins another connection: the one before has ended.
    package func connect(radio: GATTFaults, random: SplitMix64) {
        let first = BluetoothUUID("6e40fff0-b5a3-f393-e0a9-e50e24dcca9e") ?? BluetoothUUID(0)
        let second = BluetoothUUID("de5bf728-d711-4e47-af26-65e3012a5dc7") ?? BluetoothUUID(0)
        var table = [
            ScriptedService(
                first,
                [
                    ScriptedCharacteristic(Self.requests, [.write, .writeWithoutResponse]),
                    ScriptedCharacteristic(Self.replies, .notify),
                ]),
            ScriptedService(
                0x180a,
                [
                    ScriptedCharacteristic(0x2a26, .read, Array("R02_3.00.06_240523".utf8)),
                    ScriptedCharacteristic(0x2a27, .read, Array("R02_V3.0\0".utf8)),
                ]),
        ]
        if hasMessages {
            table.append(
                ScriptedService(
                    second,
                    [
                        ScriptedCharacteristic(Self.bigRequests, .writeWithoutResponse),
                        ScriptedCharacteristic(Self.bigReplies, .notify),
                    ]))
        }
        let peripheral = ScriptedPeripheral(table, faults: radio, clock: clock, random: random) {
            [weak self] (_, write) throws(ATTError) in self?.react(to: write)
        }
        box.withLock { $0 = peripheral }
    }

    /// The end of the running connection, or of the last one.
    package var peripheral: ScriptedPeripheral {
        box.withLock { $0 } ?? ScriptedPeripheral([])
    }

    /// The commands that it was sent, in order.
    package var commands: [UInt8] { peripheral.writes.compactMap { $0.bytes.first } }

    /// Sends a packet with the right sum.
    package func send(_ content: [UInt8]) {
        var packet = content + Array(repeating: 0, count: 15 - content.count)
        packet.append(UInt8(packet.reduce(0) { $0 + Int($1) } % 256))
        send(raw: packet)
    }

    package func send(raw bytes: [UInt8]) {
        if let replies = peripheral.characteristic(Self.replies) { peripheral.send(bytes, from: replies) }
    }

    /// Sends a message of the second service in pieces of 20 bytes.
    package func send(message: [UInt8]) {
        guard let replies = peripheral.characteristic(Self.bigReplies) else { return }
        for start in stride(from: 0, to: message.count, by: 20) {
            peripheral.send(Array(message[start..<min(start + 20, message.count)]), from: replies)
        }
    }

    /// What its clock shows, in seconds.
    var shown: Int64 { clock.now.milliseconds / 1000 + state.withLock { $0.offset } }

    private func react(to write: ScriptedPeripheral.Write) {
        if write.characteristic.uuid == Self.bigRequests {
            answer(message: write.bytes)
            return
        }
        let request = write.bytes
        guard request.count == 16, let command = request.first, !faults.contains(.silent(command)) else { return }
        if faults.contains(.refuses(command)) {
            send([command | 0x80, 0xee])
            return
        }
        switch command {
        case 0x01: setClock(request)
        case 0x03: send(raw: RingCaptures.battery)
        case 0x15:
            let second = (1...4).reversed().reduce(Int64(0)) { $0 << 8 | Int64(request[$1]) }
            answer(log: RingLogs(self).heartRates(second: second))
        case 0x37: answer(log: RingLogs(self).stress(daysAgo: Int64(request[1])))
        case 0x43: answer(log: RingLogs(self).steps(daysAgo: Int64(request[1])))
        case 0x16: answer(heartRate: request)
        case 0x2c, 0x36:
            if request[1] == 2 { state.withLock { $0.settings[command] = request[2] } }
            send([command, request[1], state.withLock { $0.settings[command] ?? 0 }])
        case 0x3a:
            if request[2] == 2 { state.withLock { $0.settings[command] = request[3] } }
            send([command, 3, request[2], state.withLock { $0.settings[command] ?? 0 }])
        case 0x69: measure(request)
        case 0x6a:
            state.withLock { $0.kind = nil }
            send([0x6a, request[1]])
        default: send([command | 0x80, 0xee])
        }
    }

    private func setClock(_ request: [UInt8]) {
        let digits = request[1...6].map { Int($0 >> 4) * 10 + Int($0 & 15) }
        let day = LocalDay(year: 2000 + digits[0], month: digits[1], day: digits[2])?.number ?? 0
        let shown = Int64(day) * 86_400 + Int64(digits[3] * 3600 + digits[4] * 60 + digits[5])
        state.withLock { state in
            state.offset = shown - clock.now.milliseconds / 1000
            state.clocks.append(Timestamp(seconds: shown - Int64(zone) * 60))
        }
        if faults.contains(.lostClockAnswer), state.withLock({ $0.clocks.count }) == 1 { return }
        send([0x01, 0, 1, 0, 0x22, 0, 0, 0, 0, 1, 0, 0, 0x30, 0, 0x10])
        send(raw: RingCaptures.packetSize)
    }

    private func answer(heartRate request: [UInt8]) {
        if request[1] == 2 {
            state.withLock { $0.heartRate = (request[2] == 1, request[3]) }
            // As rings do: the answer to a write has nothing of it.
            send([0x16, 2])
        } else {
            let setting = state.withLock { $0.heartRate }
            send([0x16, 1, setting.isOn ? 1 : 2, setting.minutes])
        }
    }

    private func measure(_ request: [UInt8]) {
        let kind = request[1]
        let values = state.withLock { state in
            state.kind = kind
            state.values += 1
            return state.values
        }
        if faults.contains(.notWorn) {
            send([0x69, kind, 1])
        } else if faults.contains(.weakSignal), values == 1 {
            send([0x69, kind, 0, 0])
            send([0x69, kind, 2])
        } else {
            send([0x69, kind, 0, 0])
            for _ in 0..<3 { send([0x69, kind, 0, kind == 1 ? 0x4e : 0x61]) }
        }
    }

    private func answer(log: [[UInt8]]) {
        var parts = log
        let isFirst = state.withLock { state in
            defer { state.hasFailed = true }
            return !state.hasFailed
        }
        if parts.count > 2, faults.contains(.alwaysLostPart) || isFirst && faults.contains(.lostPart) {
            parts.remove(at: parts.count / 2)
        }
        if faults.contains(.disorder) { parts = (parts + parts).reversed() }
        for (index, part) in parts.enumerated() {
            if index == 2, isFirst, faults.contains(.damagedPart) {
                send(raw: part + Array(repeating: 0, count: 15 - part.count) + [0xaa])
                continue
            }
            send(part)
            if faults.contains(.notices) { send(raw: RingCaptures.batteryNotice) }
        }
    }

    private func answer(message request: [UInt8]) {
        guard request.count == 7, !faults.contains(.silent(request[1])) else { return }
        switch request[1] {
        case 0x2a: send(message: RingLogs(self).oxygen())
        case 0x27: send(message: RingCaptures.sleep)
        case 0x25: send(message: RingLogs(self).temperatures())
        default: break
        }
    }
}
