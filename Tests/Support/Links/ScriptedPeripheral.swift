import Concurrency
package import GatewayKit
import Synchronization
package import Vitals

/// A Bluetooth device in memory: a table of services, with reactions to writes and subscriptions. `ScriptedGATTLink` connects a
/// driver with it.
package final class ScriptedPeripheral: Sendable {
    /// A write of the gateway.
    package struct Write: Sendable, Hashable {
        /// The characteristic written to.
        package var characteristic: GATTCharacteristic
        /// The bytes written.
        package var bytes: [UInt8]
        /// Whether the device confirms it.
        package var kind: GATTWrite
        /// A write.
        package init(characteristic: GATTCharacteristic, bytes: [UInt8], kind: GATTWrite) {
            self.characteristic = characteristic
            self.bytes = bytes
            self.kind = kind
        }
    }
    /// What the device does after a write: usually `send`. The error refuses the write.
    package typealias Reaction = @Sendable (ScriptedPeripheral, Write) throws(ATTError) -> Void
    /// What the device does when the gateway has subscribed to a characteristic: a cuff sends its records.
    package typealias Greeting = @Sendable (ScriptedPeripheral, GATTCharacteristic) -> Void

    struct State {
        var values: [GATTCharacteristic: [UInt8]] = [:]
        var failures: [GATTCharacteristic: GATTError] = [:]
        var writes: [Write] = []
        var subscribed: Set<GATTCharacteristic> = []
        var local: [GATTLocalService] = []
        var isSilent = false
        var end: LinkError?
        /// Answers and values so far.
        var transfers = 0
        var random: SplitMix64
    }
    let state: Mutex<State>
    let waiting = GATTValueQueue()
    let change = Signal()
    let faults: GATTFaults
    let clock: GatewayClock
    let onWrite: Reaction
    let onSubscribe: Greeting

    /// The name that it advertises.
    package let name: String?
    /// The services of the table.
    package let services: [GATTService]
    /// The most bytes of one value.
    package let maximumPayload: Int

    /// Creates a device with these services.
    /// - Parameters:
    ///   - name: what it advertises.
    ///   - maximumPayload: in bytes; 20 is Bluetooth's minimum (an ATT MTU of 23).
    ///   - onWrite: the device's reaction to a write.
    ///   - onSubscribe: the device's reaction to a subscription.
    package init(
        _ table: [ScriptedService], name: String? = nil, maximumPayload: Int = 20, faults: GATTFaults = .none,
        clock: GatewayClock = .system, random: SplitMix64 = SplitMix64(seed: 0),
        onWrite: @escaping Reaction = { (_, _) throws(ATTError) in }, onSubscribe: @escaping Greeting = { _, _ in }
    ) {
        self.name = name
        var handle: UInt16 = 0
        var values: [GATTCharacteristic: [UInt8]] = [:]
        services = table.map { service in
            GATTService(
                uuid: service.uuid,
                characteristics: service.characteristics.map { row in
                    handle += 3  // its declaration, its value, and its configuration
                    let characteristic = GATTCharacteristic(
                        service: service.uuid, uuid: row.uuid, handle: handle, properties: row.properties)
                    values[characteristic] = row.value
                    return characteristic
                })
        }
        var initial = State(random: random)
        initial.values = values
        state = Mutex(initial)
        self.maximumPayload = maximumPayload
        self.faults = faults
        self.clock = clock
        self.onSubscribe = onSubscribe
        self.onWrite = onWrite
    }

    /// The gateway's end of the connection.
    package var link: ScriptedGATTLink { ScriptedGATTLink(peripheral: self) }

    /// The first characteristic with this identifier of the Bluetooth SIG.
    package func characteristic(_ short: UInt16) -> GATTCharacteristic? { characteristic(BluetoothUUID(short)) }

    /// The first characteristic with this identifier.
    package func characteristic(_ uuid: BluetoothUUID) -> GATTCharacteristic? {
        services.lazy.flatMap(\.characteristics).first { $0.uuid == uuid }
    }

    /// Every write, oldest first.
    package var writes: [Write] { state.withLock { $0.writes } }
    /// The characteristics that the gateway has subscribed to.
    package var subscribed: Set<GATTCharacteristic> { state.withLock { $0.subscribed } }

    /// The value of a characteristic.
    package func value(of characteristic: GATTCharacteristic) -> [UInt8] {
        state.withLock { $0.values[characteristic] ?? [] }
    }

    /// Sets the value of a characteristic.
    package func setValue(_ bytes: [UInt8], of characteristic: GATTCharacteristic) {
        state.withLock { $0.values[characteristic] = bytes }
    }

    /// Makes every call on a characteristic fail; `nil` ends that.
    package func fail(_ characteristic: GATTCharacteristic, with error: GATTError?) {
        state.withLock { $0.failures[characteristic] = error }
    }

    /// Sends a value if the gateway has subscribed to the characteristic and the connection is open. Returns whether it was sent.
    @discardableResult
    package func send(_ bytes: [UInt8], from characteristic: GATTCharacteristic) -> Bool {
        let value = state.withLock { state -> [UInt8]? in
            guard state.subscribed.contains(characteristic), state.end == nil, !state.isSilent else { return nil }
            return faults.damaged(Array(bytes.prefix(maximumPayload)), &state.random)
        }
        return value.map { waiting.add(GATTValue(characteristic: characteristic, bytes: $0)) } ?? false
    }

    /// Sends a value of the first characteristic with this identifier of the Bluetooth SIG.
    @discardableResult
    package func send(_ bytes: [UInt8], from short: UInt16) -> Bool {
        characteristic(short).map { send(bytes, from: $0) } ?? false
    }

    /// Reads a characteristic that the gateway serves; `nil` if it serves none with this identifier.
    package func readFromGateway(_ uuid: BluetoothUUID) -> [UInt8]? {
        let found = state.withLock { $0.local.flatMap(\.characteristics).first { $0.uuid == uuid } }
        return found?.value()
    }

    /// The device answers nothing and sends nothing from now on, while the connection stays.
    package func fallSilent() { state.withLock { $0.isSilent = true } }

    /// Ends the connection: by the device, or with an error.
    package func disconnect(_ error: LinkError? = nil) {
        state.withLock { state in
            if state.end == nil { state.end = error ?? LinkError(.broken, "The device ended the connection.") }
        }
        waiting.finish(error)
        change.wake()
    }
}
