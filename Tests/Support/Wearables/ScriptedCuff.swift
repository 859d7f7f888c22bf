import GatewayKit
import Synchronization
package import Vitals

/// A cuff that measures by itself. Whenever the gateway subscribes, it sends what it has stored, and deletes what was confirmed: each
/// record comes once. Its bytes are written out here and not by the encoder of the plugin.
package final class ScriptedCuff: Sendable {
    /// A measurement, in mmHg and beats per minute.
    package struct Record: Sendable, Hashable {
        /// When it measured, in whole seconds.
        package let moment: Timestamp
        package let systolic: Int
        package let diastolic: Int
        /// Beats per minute.
        package let pulse: Int

        /// Measurement number `number`, so that each differs from the next ones.
        init(_ number: Int, at moment: Timestamp) {
            self.moment = moment
            (systolic, diastolic, pulse) = (110 + number % 40, 70 + number % 20, 60 + number % 30)
        }

        /// The value of Blood Pressure Measurement (0x2A35) with time and pulse. Its clock shows the time of Berlin in winter, UTC+1.
        var bytes: [UInt8] {
            let second = moment.milliseconds / 1000 + 3600
            let day = LocalDay(number: Int(second / 86_400)).description.split(separator: "-").compactMap { Int($0) }
            let inDay = Int(second % 86_400)
            // Each pressure is a SFLOAT with the exponent 0, and so are the mean, which is the diastolic one here, and the pulse.
            var bytes: [UInt8] = [0x06]
            for number in [systolic, diastolic, diastolic] { bytes += [UInt8(number), 0] }
            bytes += [UInt8(day[0] & 0xff), UInt8(day[0] >> 8), UInt8(day[1]), UInt8(day[2])]
            bytes += [UInt8(inDay / 3600), UInt8(inDay / 60 % 60), UInt8(inDay % 60)]
            bytes += [UInt8(pulse), 0]
            return bytes
        }
    }

    /// The time between two measurements.
    package static let interval: Duration = .minutes(50)

    let clock: GatewayClock
    let begin: Timestamp
    private let state = Mutex(State())

    private struct State {
        var delivered: [(record: Record, at: Timestamp)] = []
        var device: ScriptedPeripheral?
    }

    /// A cuff whose first measurement is at `begin`, in whole seconds.
    package init(clock: GatewayClock, from begin: Timestamp) { (self.clock, self.begin) = (clock, begin) }

    /// What it has measured until a moment.
    package func records(until moment: Timestamp) -> [Record] {
        var records: [Record] = []
        while case let next = begin + Self.interval * records.count, next <= moment {
            records.append(Record(records.count, at: next))
        }
        return records
    }

    /// What the link has confirmed, in that order: the cuff no longer has it.
    package var delivered: [Record] { state.withLock { $0.delivered.map(\.record) } }

    /// The records that the link has confirmed in a range of time.
    package func delivered(in time: ClosedRange<Timestamp>) -> [Record] {
        state.withLock { state in state.delivered.filter { time.contains($0.at) }.map(\.record) }
    }

    /// Its end of a new connection.
    package func connect(radio: GATTFaults, random: SplitMix64) -> ScriptedPeripheral {
        let table = [
            ScriptedService(0x180f, [ScriptedCharacteristic(0x2a19, [.read, .notify], [77])]),
            ScriptedService(
                0x180a,
                [
                    ScriptedCharacteristic(0x2a29, .read, Array("Acme".utf8)),
                    ScriptedCharacteristic(0x2a24, .read, Array("Cuff 1".utf8)),
                    ScriptedCharacteristic(0x2a25, .read, Array("0042".utf8)),
                ]),
            ScriptedService(
                0x1810,
                [
                    ScriptedCharacteristic(0x2a35, .indicate), ScriptedCharacteristic(0x2a49, .read, [0, 0]),
                    ScriptedCharacteristic(0x2a08, [.read, .write]),
                ]),
        ]
        let device = ScriptedPeripheral(table, faults: radio, clock: clock, random: random) {
            (_, _) throws(ATTError) in
        } onSubscribe: { [weak self] device, characteristic in
            if characteristic.uuid == BluetoothUUID(0x2a35) { self?.send(to: device, from: characteristic) }
        }
        state.withLock { $0.device = device }
        return device
    }

    /// Leaves the connection.
    package func disconnect() { state.withLock { $0.device }?.disconnect() }

    private func send(to device: ScriptedPeripheral, from characteristic: GATTCharacteristic) {
        let sent = Set(delivered)
        for record in records(until: clock.now) where !sent.contains(record) {
            guard device.send(record.bytes, from: characteristic) else { return }
            state.withLock { $0.delivered.append((record, clock.now)) }
        }
    }
}
