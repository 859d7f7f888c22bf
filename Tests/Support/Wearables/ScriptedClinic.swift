import GatewayKit
package import Vitals

/// A device with many services: an oximeter and a glucose meter with records, a thermometer with an interval, a strap, and a clock. Its
/// bytes are written out here and not by the encoder of the plugin.
package struct ScriptedClinic: Sendable {
    package let peripheral: ScriptedPeripheral

    /// Records of 2026, in UTC+1: the minute of 2026-01-10 08:00, saturation, pulse.
    package static let spots: [(minute: Int, saturation: UInt8, pulse: UInt8)] = (0..<40).map {
        ($0, UInt8(90 + $0 % 10), UInt8(60 + $0))
    }
    /// Sequence number, the minute of 2026-01-10 08:00, mg/dL.
    package static let sugars: [(sequence: Int, minute: Int, amount: UInt16)] = (0..<25).map {
        ($0 + 3, $0 * 2, UInt16(80 + $0))
    }

    package static func date(_ minute: Int) -> [UInt8] {
        [0xea, 0x07, 1, 10, UInt8(8 + minute / 60), UInt8(minute % 60), 0]
    }

    /// 2026-01-10T08:00 in Berlin.
    package static func moment(_ minute: Int) -> Timestamp { Timestamp(seconds: 1_768_028_400 + Int64(minute) * 60) }

    package static func spot(_ row: (minute: Int, saturation: UInt8, pulse: UInt8)) -> [UInt8] {
        [0x01, row.saturation, 0, row.pulse, 0] + date(row.minute)
    }

    /// The amount in 1e-5 kg/L, which is mg/dL; capillary whole blood from a finger; with a context.
    package static func sugar(_ row: (sequence: Int, minute: Int, amount: UInt16)) -> [UInt8] {
        let amount = row.amount | 0xb000
        return [0x12, UInt8(row.sequence), 0] + date(row.minute) + [UInt8(amount & 0xff), UInt8(amount >> 8), 0x11]
    }

    package static var history: [Metric: [Sample]] {
        [
            .bloodOxygen: spots.map {
                Sample(
                    metric: .bloodOxygen, start: moment($0.minute), isUserInitiated: true,
                    reading: .value(Double($0.saturation)))
            },
            .heartRate: spots.map {
                Sample(
                    metric: .heartRate, start: moment($0.minute), isUserInitiated: true,
                    reading: .value(Double($0.pulse)))
            },
            .bloodGlucose: sugars.map {
                Sample(
                    metric: .bloodGlucose, start: moment($0.minute), isUserInitiated: true,
                    qualifiers: [.specimen: "capillary_blood", .meal: "fasting"], reading: .value(Double($0.amount)))
            },
        ]
    }

    package init(clock: GatewayClock, faults: GATTFaults = .none, random: SplitMix64 = SplitMix64(seed: 1)) {
        let access: GATTProperties = [.write, .indicate]
        peripheral = ScriptedPeripheral(
            [
                ScriptedService(
                    0x1822,
                    [
                        ScriptedCharacteristic(0x2a5e, .indicate), ScriptedCharacteristic(0x2a5f, .notify),
                        ScriptedCharacteristic(0x2a52, access),
                    ]),
                ScriptedService(
                    0x1808,
                    [
                        ScriptedCharacteristic(0x2a18, .notify), ScriptedCharacteristic(0x2a34, .notify),
                        ScriptedCharacteristic(0x2a52, access),
                    ]),
                ScriptedService(
                    0x1809,
                    [
                        ScriptedCharacteristic(0x2a1c, .indicate),
                        ScriptedCharacteristic(0x2a21, [.read, .write], [0x08, 0x07]),
                    ]),
                ScriptedService(0x180d, [ScriptedCharacteristic(0x2a37, .notify)]),
                ScriptedService(0x180f, [ScriptedCharacteristic(0x2a19, [.read, .notify], [81])]),
                ScriptedService(
                    0x180a,
                    [
                        ScriptedCharacteristic(0x2a29, .read, Array("Acme \0".utf8)),
                        ScriptedCharacteristic(0x2a24, .read, Array("Clinic 1".utf8)),
                        ScriptedCharacteristic(0x2a25, .read, [0]),
                    ]),
                ScriptedService(
                    0x1805,
                    [
                        ScriptedCharacteristic(0x2a2b, [.read, .write], [0xea, 0x07, 1, 11, 12, 30, 5, 7, 0, 0]),
                        ScriptedCharacteristic(0x2a0f, [.read, .write], [4, 0]),
                    ]),
            ], faults: faults, clock: clock, random: random
        ) { (device, write) throws(ATTError) in
            switch (write.characteristic.service, write.characteristic.uuid) {
            case (BluetoothUUID(0x1822), BluetoothUUID(0x2a52)):
                Self.answer(device, write, Self.spots.map(Self.spot), 0x2a5e)
            case (BluetoothUUID(0x1808), BluetoothUUID(0x2a52)):
                let from = write.bytes.starts(with: [1, 3, 1]) ? Int(write.bytes[3]) : 0
                Self.answer(device, write, Self.sugars.filter { $0.sequence >= from }.map(Self.sugar), 0x2a18)
            case (_, BluetoothUUID(0x2a21)):
                guard write.bytes.count == 2 else { throw .invalidLength }
                device.setValue(write.bytes, of: write.characteristic)
            default: device.setValue(write.bytes, of: write.characteristic)
            }
        }
    }

    /// Sends records, each of a glucose meter with a context, and then the answer.
    private static func answer(
        _ device: ScriptedPeripheral, _ write: ScriptedPeripheral.Write, _ records: [[UInt8]], _ source: UInt16
    ) {
        guard write.bytes.first == 1 else { return }
        for record in records {
            device.send(record, from: source)
            if source == 0x2a18 { device.send([0x02, record[1], record[2], 3], from: 0x2a34) }
        }
        device.send([6, 0, 1, records.isEmpty ? 6 : 1], from: write.characteristic)
    }
}
