import GatewayKit
import GatewayTesting
import TestSupport
import Testing

/// The radio's thread adds values while the driver takes them, is cancelled, or the link ends.
@Suite(.serialized) struct GATTValueQueueStormTests {
    private let characteristic = GATTCharacteristic(
        service: BluetoothUUID(0x180d), uuid: BluetoothUUID(0x2a37), handle: 3, properties: .notify)

    @Test func `a queue that is filled, taken from, given up and ended at once lets everybody go`() async {
        await Storm.run("A queue of values") { _ in
            let queue = GATTValueQueue(capacity: 8)
            let value = GATTValue(characteristic: characteristic, bytes: [1])
            let impatient = Task { try? await queue.next() }
            return [
                { impatient.cancel() },
                { for _ in 0..<3 { queue.add(value) } },
                {
                    _ = await impatient.value
                    // At most one value was taken; the others come, and then the end.
                    queue.add(value)
                    queue.finish()
                    var count = 0
                    while let next = try? await queue.next() { count += next == value ? 1 : 100 }
                    if !(1...4).contains(count) { Issue.record("\(count) values came") }
                },
            ]
        }
    }
}
