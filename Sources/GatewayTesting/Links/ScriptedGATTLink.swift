import Concurrency
package import GatewayKit
import Synchronization

/// A Bluetooth device defined by a table: the test sets its values, writes are recorded, and notifications come from
/// the test or from `onWrite`, which simulates the device's reactions.
package final class ScriptedGATTLink: GATTLink {
    /// The most notifications that may wait: more than any device sends during a test.
    package static let maximumWaiting = 10_000

    /// A write of the gateway.
    package struct Write: Sendable, Hashable {
        /// The characteristic written to.
        package var characteristic: GATTCharacteristic
        /// The bytes written.
        package var bytes: [UInt8]
        /// Whether the write waited for the device's confirmation.
        package var isAcknowledged: Bool
        /// A write.
        package init(characteristic: GATTCharacteristic, bytes: [UInt8], isAcknowledged: Bool) {
            self.characteristic = characteristic
            self.bytes = bytes
            self.isAcknowledged = isAcknowledged
        }
    }

    private struct State {
        var values: [GATTCharacteristic: [UInt8]] = [:]
        var failures: [GATTCharacteristic: LinkError] = [:]
        var writes: [Write] = []
        var notifying: Set<GATTCharacteristic> = []
        var waiting: [GATTNotification] = []
        var end: Result<Void, LinkError>?
    }
    private let state = Mutex(State())
    private let arrival = Signal()
    private let signal: Int?
    private let onWrite: @Sendable (ScriptedGATTLink, Write) -> Void

    /// The services of the table.
    package let services: [GATTService]
    /// The greatest payload of one write or notification.
    package let maximumPayload: Int

    /// Creates a device with these services, by the UUIDs of their characteristics, which may be in 16-bit form
    /// (`180d`).
    /// - Parameters:
    ///   - maximumPayload: in bytes; 20 is Bluetooth's minimum (an ATT MTU of 23).
    ///   - onWrite: the device's reaction to a write; usually `notify`.
    package init(
        services: KeyValuePairs<String, [String]>, maximumPayload: Int = 20, signal: Int? = -60,
        onWrite: @escaping @Sendable (ScriptedGATTLink, Write) -> Void = { _, _ in }
    ) {
        var handle: UInt16 = 0
        self.services = services.map { service, characteristics in
            let uuid = Self.uuid(service)
            return GATTService(
                uuid: uuid,
                characteristics: characteristics.map { characteristic in
                    handle += 1
                    return GATTCharacteristic(service: uuid, uuid: Self.uuid(characteristic), handle: handle)
                })
        }
        self.maximumPayload = maximumPayload
        self.signal = signal
        self.onWrite = onWrite
    }

    /// The 128-bit form of a UUID: a 16-bit one is inserted into the Bluetooth base UUID.
    package static func uuid(_ text: String) -> String {
        text.count == 4 ? "0000\(text.lowercased())-0000-1000-8000-00805f9b34fb" : text.lowercased()
    }

    /// The first characteristic with a UUID, which may be in 16-bit form.
    package func characteristic(_ uuid: String) -> GATTCharacteristic? {
        let uuid = Self.uuid(uuid)
        return services.lazy.flatMap(\.characteristics).first { $0.uuid == uuid }
    }

    /// Every write, oldest first.
    package var writes: [Write] { state.withLock { $0.writes } }
    /// The characteristics whose notifications are switched on.
    package var notifying: Set<GATTCharacteristic> { state.withLock { $0.notifying } }

    /// Sets the value for reads of a characteristic.
    package func setValue(_ bytes: [UInt8], of characteristic: GATTCharacteristic) {
        state.withLock { $0.values[characteristic] = bytes }
    }

    /// Makes every operation on a characteristic fail; `nil` ends that.
    package func fail(_ characteristic: GATTCharacteristic, with error: LinkError?) {
        state.withLock { $0.failures[characteristic] = error }
    }

    /// Sends a notification if the gateway has enabled them for the characteristic and the link is open. Returns
    /// whether it was sent.
    @discardableResult
    package func notify(_ bytes: [UInt8], from characteristic: GATTCharacteristic) -> Bool {
        let isSent = state.withLock { state in
            guard state.notifying.contains(characteristic), state.end == nil, state.waiting.count < Self.maximumWaiting
            else { return false }
            state.waiting.append(GATTNotification(characteristic: characteristic, bytes: bytes))
            return true
        }
        if isSent { arrival.wake() }
        return isSent
    }

    /// Ends the connection: normally, or with an error.
    package func disconnect(_ error: LinkError? = nil) {
        state.withLock { state in
            if state.end == nil { state.end = error.map { .failure($0) } ?? .success(()) }
        }
        arrival.wake()
    }

    /// The characteristic's value; fails if it has none.
    package func read(_ characteristic: GATTCharacteristic) async throws(LinkError) -> [UInt8] {
        try use(characteristic) { state throws(LinkError) in
            guard let value = state.values[characteristic] else {
                throw LinkError(.broken, "The characteristic \(characteristic.uuid) cannot be read.")
            }
            return value
        }
    }

    /// Records the write, and then calls `onWrite`.
    package func write(
        _ bytes: [UInt8], to characteristic: GATTCharacteristic, isAcknowledged: Bool
    ) async throws(LinkError) {
        let write = Write(characteristic: characteristic, bytes: bytes, isAcknowledged: isAcknowledged)
        let limit = maximumPayload
        try use(characteristic) { state throws(LinkError) in
            guard bytes.count <= limit else {
                throw LinkError(.broken, "\(bytes.count) bytes do not fit into a write of \(limit).")
            }
            state.writes.append(write)
        }
        onWrite(self, write)
    }

    /// Switches notifications on or off.
    package func setNotifying(_ isNotifying: Bool, for characteristic: GATTCharacteristic) async throws(LinkError) {
        try use(characteristic) { state in
            if isNotifying { state.notifying.insert(characteristic) } else { state.notifying.remove(characteristic) }
        }
    }

    /// Waits for the next notification.
    package func nextNotification() async throws(LinkError) -> GATTNotification? {
        while true {
            let (next, end) = state.withLock { state -> (GATTNotification?, Result<Void, LinkError>?) in
                (state.waiting.isEmpty ? nil : state.waiting.removeFirst(), state.end)
            }
            if let next { return next }
            if let end {
                try end.get()
                return nil
            }
            if Task.isCancelled { throw LinkError(.cancelled, "The connection was closed by the gateway.") }
            await arrival.wait()
        }
    }

    /// The signal strength set by the test.
    package func signalStrength() async -> Int? { signal }

    private func use<Value: Sendable>(
        _ characteristic: GATTCharacteristic, _ body: (inout sending State) throws(LinkError) -> sending Value
    ) throws(LinkError) -> Value {
        try state.withLock { state throws(LinkError) in
            if let end = state.end {
                try end.get()
                throw LinkError(.broken, "The device is disconnected.")
            }
            if let failure = state.failures[characteristic] { throw failure }
            return try body(&state)
        }
    }
}
