import GatewayKit
import Vitals

extension DeviceNotes.Storage {
    /// Keeps a device's notes in the store.
    init(_ store: any DeviceStore, of device: DeviceID) {
        self.init { () async throws(DeviceError) in
            do throws(StoreError) { return try await store.notes(of: device) } catch { throw DeviceError(error) }
        } save: { changes throws(DeviceError) in
            do throws(StoreError) { try await store.saveNotes(changes, of: device) } catch { throw DeviceError(error) }
        }
    }
}

extension DeviceError {
    fileprivate init(_ error: StoreError) { self.init(.failure, "The driver's notes: \(error.message)") }
}
