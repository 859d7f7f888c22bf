public import Vitals

/// A conversation with a device over Bluetooth: what it sends, what it says about itself, and how both end.
public final class GATTConversation: Sendable {
    /// The connection.
    public let link: any GATTLink
    /// The events of the session.
    public let inbox = EventInbox()
    private let name: String

    /// A conversation over a link that is open.
    /// - Parameter name: what messages call the device, such as `ring`.
    public init(over link: any GATTLink, with name: String) {
        self.link = link
        self.name = name
    }

    /// Makes the device send the values of these characteristics, in this order. Do it before the first request, so that no answer is lost.
    /// - Throws: the error of the first one that the device refuses.
    public func subscribe(to characteristics: [GATTCharacteristic]) async throws(DeviceError) {
        for characteristic in characteristics {
            do { try await link.subscribe(to: characteristic) } catch {
                throw DeviceError(error, "The \(name)'s answers")
            }
        }
    }

    /// Receives until the link ends; then all open calls and the events end, too. When the task is cancelled, it hands over the values
    /// that wait, and closes nothing: who cancels it ends the session.
    ///
    /// One task of the session calls it. While `handle` waits, nothing is received.
    /// - Parameters:
    ///   - handle: takes a value of any subscribed characteristic.
    ///   - close: ends the open calls with an error, before the inbox ends with it.
    public func receive(
        _ handle: (GATTValue) async -> Void, closing close: (DeviceError) async -> Void
    ) async {
        var end = DeviceError(.disconnected, "The \(name) ended the connection.")
        do throws(LinkError) {
            while let value = try await link.nextValue() { await handle(value) }
        } catch {
            if error.code == .cancelled, Task.isCancelled { return }
            end = DeviceError(.link(error), "The connection")
        }
        await close(end)
        inbox.finish(end)
    }

    /// Reads a value that a device may keep for itself.
    /// - Returns: `nil` without such a characteristic, if it cannot be read, and if the device refuses it.
    /// - Throws: why there was no answer.
    public func readIfPermitted(_ characteristic: GATTCharacteristic?) async throws(GATTError) -> [UInt8]? {
        guard let characteristic, characteristic.properties.contains(.read) else { return nil }
        do { return try await link.read(characteristic) } catch .refused { return nil }
    }

    /// Reads a text of the Device Information Service, such as `DeviceInformation.model`, without control characters and without spaces at
    /// its ends.
    /// - Returns: `nil` if the device has none, or does not send it.
    /// - Throws: why there was no answer.
    public func text(_ uuid: BluetoothUUID) async throws(GATTError) -> String? {
        let characteristic = link.characteristic(uuid, in: DeviceInformation.service)
        guard let bytes = try await readIfPermitted(characteristic) else { return nil }
        let scalars = String(decoding: bytes, as: UTF8.self).unicodeScalars
            .filter { $0.properties.generalCategory != .control }
        let tail = String(String.UnicodeScalarView(scalars)).drop { $0 == " " }
        let text = String(tail.reversed().drop { $0 == " " }.reversed())
        return text.isEmpty ? nil : text
    }

    /// Reads all that the Device Information Service says.
    /// - Throws: why there was no answer.
    public func identity() async throws(GATTError) -> DeviceIdentity {
        DeviceIdentity(
            manufacturer: try await text(DeviceInformation.manufacturer),
            model: try await text(DeviceInformation.model), serial: try await text(DeviceInformation.serial),
            firmware: try await text(DeviceInformation.firmware),
            hardware: try await text(DeviceInformation.hardware))
    }
}
