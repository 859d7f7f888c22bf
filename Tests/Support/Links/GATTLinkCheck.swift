package import GatewayKit

extension ScriptedPeripheral {
    /// A strap: heart rate with notifications, a control point, a model, a battery.
    package static func strap(onWrite: @escaping Reaction = { (_, _) throws(ATTError) in }) -> ScriptedPeripheral {
        ScriptedPeripheral(
            [
                ScriptedService(
                    0x180d,
                    [
                        ScriptedCharacteristic(0x2a37, [.notify, .read], [0, 60]),
                        ScriptedCharacteristic(0x2a39, [.write, .writeWithoutResponse]),
                    ]),
                ScriptedService(0x180a, [ScriptedCharacteristic(0x2a24, .read, Array("Strap 1".utf8))]),
                ScriptedService(0x180f, [ScriptedCharacteristic(0x2a19, [.read, .notify], [64])]),
            ], maximumPayload: 100, onWrite: onWrite)
    }

    /// What a link to a strap does wrong, whatever transport carries it: services, reads, writes, values and their order.
    package func violations(of link: any GATTLink) async throws -> [String] {
        var violations: [String] = []
        func check(_ isRight: Bool, _ rule: String) { if !isRight { violations.append(rule) } }
        check(Set(link.services.map(\.uuid)) == Set(services.map(\.uuid)), "it has the services of the device")
        check(link.maximumPayload == maximumPayload, "it has the negotiated size")
        guard let rate = link.characteristic(BluetoothUUID(0x2a37), in: BluetoothUUID(0x180d)),
            let control = link.characteristic(BluetoothUUID(0x2a39), in: BluetoothUUID(0x180d)),
            let model = link.characteristic(BluetoothUUID(0x2a24), in: BluetoothUUID(0x180a)),
            let battery = link.characteristic(BluetoothUUID(0x2a19), in: BluetoothUUID(0x180f))
        else { return violations + ["it has the characteristics of the device"] }
        check(try await link.read(model) == Array("Strap 1".utf8), "it reads the model")
        check(try await link.read(battery) == [64], "it reads the battery")
        try await link.write([1], to: control, .withResponse)
        try await link.write([2], to: control, .withoutResponse)
        try await link.subscribe(to: rate)
        try await link.subscribe(to: rate)
        check(writes.map(\.bytes) == [[1], [2]], "it writes in order")
        check(writes.map(\.kind) == [.withResponse, .withoutResponse], "it writes with and without a response")
        for value in 60..<70 as Range<UInt8> { send([0, value], from: 0x2a37) }
        for value in 60..<70 as Range<UInt8> {
            let next = try await link.nextValue()
            check(next == GATTValue(characteristic: rate, bytes: [0, value]), "the value \(value) arrives in order")
        }
        check(await link.signalStrength() != nil, "it knows the signal's strength")
        for (size, kind) in [(513, GATTWrite.withResponse), (maximumPayload + 1, .withoutResponse)] {
            do throws(GATTError) {
                try await link.write([UInt8](repeating: 0, count: size), to: control, kind)
                check(false, "it refuses \(size) bytes")
            } catch { check(error == .refused(.invalidLength), "it refuses \(size) bytes by their length") }
        }
        try await link.write([UInt8](repeating: 0, count: 512), to: control, .withResponse)
        try await link.write([UInt8](repeating: 0, count: maximumPayload), to: control, .withoutResponse)
        try await link.unsubscribe(from: rate)
        check(subscribed.isEmpty, "it ends the subscription")
        check(writes.count == 4, "it sends nothing that is too long")
        return violations
    }
}
