import Concurrency
package import GatewayKit
import Synchronization
import Vitals

/// The gateway's end of a connection to a `ScriptedPeripheral`.
package struct ScriptedGATTLink: GATTLink {
    /// The device.
    let peripheral: ScriptedPeripheral

    package var name: String? { peripheral.name }
    package var services: [GATTService] { peripheral.services }
    package var maximumPayload: Int { peripheral.maximumPayload }

    package func read(_ characteristic: GATTCharacteristic) async throws(GATTError) -> [UInt8] {
        try await begin(characteristic, [.read], else: .readNotPermitted)
        return peripheral.state.withLock { state in
            peripheral.faults.damaged(state.values[characteristic] ?? [], &state.random)
        }
    }

    package func write(
        _ bytes: [UInt8], to characteristic: GATTCharacteristic, _ kind: GATTWrite
    ) async throws(GATTError) {
        let property: GATTProperties = kind == .withResponse ? .write : .writeWithoutResponse
        try await begin(characteristic, [property], else: .writeNotPermitted)
        guard bytes.count <= (kind == .withResponse ? 512 : maximumPayload) else { throw .refused(.invalidLength) }
        let write = ScriptedPeripheral.Write(characteristic: characteristic, bytes: bytes, kind: kind)
        peripheral.state.withLock { $0.writes.append(write) }
        do { try peripheral.onWrite(peripheral, write) } catch {
            if kind == .withResponse { throw .refused(error) }
        }
    }

    package func subscribe(to characteristic: GATTCharacteristic) async throws(GATTError) {
        try await begin(characteristic, [.notify, .indicate], else: .requestNotSupported)
        let isNew = peripheral.state.withLock { $0.subscribed.insert(characteristic).inserted }
        if isNew { peripheral.onSubscribe(peripheral, characteristic) }
    }

    package func unsubscribe(from characteristic: GATTCharacteristic) async throws(GATTError) {
        try await begin(characteristic, [.notify, .indicate], else: .requestNotSupported)
        peripheral.state.withLock { _ = $0.subscribed.remove(characteristic) }
    }

    package func nextValue() async throws(LinkError) -> GATTValue? {
        guard let value = try await peripheral.waiting.next() else { return nil }
        // A value that was sent arrives, even if the connection ends after it.
        try? await pass()
        return value
    }

    package func serve(_ services: [GATTLocalService]) async throws(GATTError) {
        try await pass()
        peripheral.state.withLock { $0.local += services }
    }

    package func signalStrength() async -> Int? { -60 }

    /// Waits until the device answers to a call on a characteristic with one of these properties.
    private func begin(
        _ characteristic: GATTCharacteristic, _ properties: GATTProperties, else refusal: ATTError
    ) async throws(GATTError) {
        try await pass()
        if let failure = peripheral.state.withLock({ $0.failures[characteristic] }) { throw failure }
        guard !characteristic.properties.isDisjoint(with: properties) else { throw .refused(refusal) }
        guard peripheral.state.withLock({ $0.values[characteristic] != nil }) else { throw .refused(.invalidHandle) }
    }

    /// Waits for the time of one answer or value, and while the device is silent.
    private func pass() async throws(GATTError) {
        let (time, breaks) = peripheral.state.withLock { state -> (Duration?, Bool) in
            state.transfers += 1
            let time = peripheral.faults.delay.map { range in
                Duration.milliseconds(
                    Int64.random(
                        in: range.lowerBound.inMilliseconds...range.upperBound.inMilliseconds, using: &state.random))
            }
            return (time, peripheral.faults.breaksAfter.map { state.transfers > $0 } ?? false)
        }
        if breaks { peripheral.disconnect(LinkError(.broken, "The connection to the device was lost.")) }
        if let time, time > .zero {
            do { try await peripheral.clock.sleep(for: time) } catch { throw Self.cancelled }
        }
        while true {
            let (isSilent, end) = peripheral.state.withLock { ($0.isSilent, $0.end) }
            if let end { throw .link(end) }
            if Task.isCancelled { throw Self.cancelled }
            guard isSilent else { return }
            await peripheral.change.wait()
        }
    }

    private static let cancelled = GATTError.link(LinkError(.cancelled, "The gateway no longer waits for the device."))
}
