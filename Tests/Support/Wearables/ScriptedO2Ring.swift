import Foundation
package import GatewayKit
import Synchronization
package import Vitals

/// A ring with recordings. Its replies are made here and not by the plugin.
package final class ScriptedO2Ring: Sendable {
    /// What it keeps over its connections.
    package struct State: Sendable {
        package var files: [String: [UInt8]] = [:]
        package var settings = [
            "OxiSwitch": "1", "CurOxiThr": "88", "HRSwitch": "0", "HRLowThr": "50", "HRHighThr": "120",
        ]
        package var values = bytes("62 42 00 00 00 00 00 61 00 92 0a 01 00")
        package var open: [UInt8]?
        package var blocks = 0
        /// What happens after so many blocks.
        package var change: (after: Int, files: [String: [UInt8]])?
        /// How many replies are damaged, or lost.
        package var damaged = 0
        package var lost = 0
        /// How many replies wait until they are released, and those that do.
        package var held = 0
        package var waiting: [[UInt8]] = []
        package var released = 0
        /// How often it refuses to open each file, and with which content it then answers; `nil` for a refusal.
        package var refusals: [String: Int] = [:]
        package var refusal: [UInt8]?
        package var skew: Int64 = 0
        package var request: [UInt8] = []
        package var isSilent = false
    }

    package static let blockLength = 480
    /// What it keeps over its connections.
    let state: Mutex<State>
    /// Reads or changes what it keeps.
    package func withState<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        try state.withLock { try body(&$0) }
    }
    let clock: GatewayClock
    private let box = Mutex<ScriptedPeripheral?>(nil)

    package static let requests = BluetoothUUID("8b00ace7-eb0b-49b0-bbe9-9aee0a26e1a3") ?? BluetoothUUID(0)
    package static let replies = BluetoothUUID("0734594a-a8e7-4b1a-a6b1-cd5243059a57") ?? BluetoothUUID(0)

    /// Creates a ring with a connection.
    package init(
        clock: GatewayClock, files: [String: [UInt8]] = [:], radio: GATTFaults = .none,
        random: SplitMix64 = SplitMix64(seed: 1)
    ) {
        self.clock = clock
        var state = State()
        state.files = files
        self.state = Mutex(state)
        connect(radio: radio, random: random)
    }

    /// Begins another connection: the one before has ended.
    package func connect(radio: GATTFaults, random: SplitMix64) {
        state.withLock { state in
            state.open = nil
            state.request = []
        }
        let service = BluetoothUUID("14839ac4-7d7e-415c-9a42-167340cf2339") ?? BluetoothUUID(0)
        let peripheral = ScriptedPeripheral(
            [
                ScriptedService(
                    service,
                    [
                        ScriptedCharacteristic(Self.requests, .writeWithoutResponse),
                        ScriptedCharacteristic(Self.replies, .notify),
                    ])
            ], faults: radio, clock: clock, random: random
        ) { [weak self] (_, write) throws(ATTError) in self?.receive(write.bytes) }
        box.withLock { $0 = peripheral }
    }

    /// The end of the running connection, or of the last one.
    package var peripheral: ScriptedPeripheral { box.withLock { $0 } ?? ScriptedPeripheral([]) }

    /// The checksum, bit by bit.
    package static func sum(_ bytes: [UInt8]) -> UInt8 {
        var sum: UInt16 = 0
        for byte in bytes {
            sum ^= UInt16(byte) << 8
            for _ in 0..<8 { sum = sum & 0x8000 == 0 ? sum << 1 : (sum << 1) ^ 0x0700 }
        }
        return UInt8(sum >> 8)
    }

    package static func reply(_ status: UInt8, _ block: Int, _ content: [UInt8]) -> [UInt8] {
        var reply: [UInt8] = [0x55, status, 255 - status]
        reply += [UInt8(block % 256), UInt8(block / 256), UInt8(content.count % 256), UInt8(content.count / 256)]
        reply += content
        return reply + [sum(reply)]
    }

    /// The time that it shows, as text.
    package func shown(_ calendar: LocalCalendar) -> String {
        let moment = clock.now + .seconds(state.withLock { $0.skew })
        let shown = moment.milliseconds / 1000 + Int64(calendar.offset(at: moment).seconds)
        let second = Int(shown % 86_400)
        let parts = [second / 3600, second / 60 % 60, second % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
        return "\(LocalDay(number: Int(shown / 86_400))),\(parts.joined(separator: ":"))"
    }

    private func receive(_ piece: [UInt8]) {
        let request = state.withLock { state -> [UInt8]? in
            if piece.first == 0xaa, piece.count > 2, piece[2] == 255 - piece[1] { state.request = [] }
            state.request += piece
            guard state.request.count >= 8 else { return nil }
            let length = Int(state.request[5]) + Int(state.request[6]) * 256
            guard state.request.count == 8 + length else { return nil }
            return state.request
        }
        guard let request, Self.sum(Array(request.dropLast())) == request.last else { return }
        let block = Int(request[3]) + Int(request[4]) * 256
        let content = Array(request[7..<(request.count - 1)])
        var reply = answer(request[1], block, content)
        let isLost = state.withLock { state -> Bool in
            if state.isSilent { return true }
            if state.damaged > 0 {
                state.damaged -= 1
                reply[reply.count - 1] ^= 1
            }
            if state.lost > 0 {
                state.lost -= 1
                return true
            }
            if state.held > 0 {
                state.held -= 1
                state.waiting.append(reply)
                return true
            }
            return false
        }
        if !isLost { send(reply) }
    }

    /// Sends the oldest reply that waits.
    package func release() {
        let reply = state.withLock { state -> [UInt8]? in
            guard state.released < state.waiting.count else { return nil }
            defer { state.released += 1 }
            return state.waiting[state.released]
        }
        if let reply { send(reply) }
    }

    private func send(_ reply: [UInt8]) {
        guard let source = peripheral.characteristic(Self.replies) else { return }
        for start in stride(from: 0, to: reply.count, by: 20) {
            peripheral.send(Array(reply[start..<min(start + 20, reply.count)]), from: source)
        }
    }

    private func answer(_ command: UInt8, _ block: Int, _ content: [UInt8]) -> [UInt8] {
        switch command {
        case 0x14: return Self.reply(0, 0, information)
        case 0x15, 0x05: return Self.reply(0, 0, [])
        case 0x16:
            configure(content)
            return Self.reply(0, 0, [])
        case 0x17: return Self.reply(0, 0, state.withLock { $0.values })
        case 0x03:
            let name = String(decoding: content.dropLast(), as: UTF8.self)
            return state.withLock { state in
                if let rest = state.refusals[name], rest > 0 {
                    state.refusals[name] = rest - 1
                    return state.refusal.map { Self.reply(0, 0, $0) } ?? Self.reply(9, 0, [])
                }
                state.open = state.files[name]
                guard let size = state.open?.count else { return Self.reply(9, 0, []) }
                return Self.reply(0, 0, [UInt8(size & 255), UInt8(size >> 8 & 255), UInt8(size >> 16), 0])
            }
        case 0x04:
            return state.withLock { state in
                state.blocks += 1
                if let change = state.change, state.blocks > change.after {
                    state.files = change.files
                    state.change = nil
                }
                let rest = (state.open ?? []).dropFirst(block * Self.blockLength).prefix(Self.blockLength)
                return Self.reply(0, block, Array(rest))
            }
        default: return Self.reply(1, 0, [])
        }
    }

    private var information: [UInt8] {
        let calendar = LocalCalendar(identifier: "Europe/Berlin") ?? LocalCalendar(timeZone: .current)
        let (files, settings) = state.withLock { ($0.files.keys.sorted(), $0.settings) }
        var members = [
            "\"Model\":\"1641\"", "\"SN\":\"2301xxxxxx\"", "\"HardwareVer\":\"AA\"", "\"SoftwareVer\":\"1.4.0\"",
            "\"CurBAT\":\"85%\"", "\"CurBatState\":\"1\"", "\"FileList\":\"\(files.map { $0 + "," }.joined())\"",
            "\"CurTIME\":\"\(shown(calendar))\"",
        ]
        members += settings.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\"\($0.value)\"" }
        return Array("{\(members.joined(separator: ","))}".utf8) + [0, 0]
    }

    /// Takes what is set, without a reader of JSON.
    private func configure(_ content: [UInt8]) {
        let text = String(decoding: content, as: UTF8.self).filter { !"{}\"".contains($0) }
        if text.hasPrefix("SetTIME:") {
            setClock(text.split { !$0.isNumber }.compactMap { Int($0) })
            return
        }
        for member in text.split(separator: ",") {
            let parts = member.split(separator: ":")
            guard parts.count == 2 else { continue }
            let name = parts[0].dropFirst(3)
            state.withLock { $0.settings[name == "OxiThr" ? "CurOxiThr" : String(name)] = String(parts[1]) }
        }
    }

    /// Sets the clock, which shows the time of Berlin, to the numbers from the year to the second.
    private func setClock(_ numbers: [Int]) {
        guard numbers.count == 6, let day = LocalDay(year: numbers[0], month: numbers[1], day: numbers[2]) else {
            return
        }
        let zone = LocalCalendar(identifier: "Europe/Berlin") ?? LocalCalendar(timeZone: .current)
        let moment = zone.moment(on: day, minute: numbers[3] * 60 + numbers[4]) + .seconds(numbers[5])
        state.withLock { $0.skew = (moment - clock.now).inMilliseconds / 1000 }
    }
}
