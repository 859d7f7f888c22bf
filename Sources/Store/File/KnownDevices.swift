import GRDB
package import Vitals

/// The devices of a store, read without changing it and while a gateway may be using it.
package enum KnownDevices {
    /// The identity, capabilities, features and monitoring of devices; nothing else of a record is read. A device that
    /// was never connected has a record without capabilities.
    /// - Throws: `StoreError` if the file cannot be read, is no store, or was made by an older version.
    package static func profiles(
        of devices: [DeviceID], in path: String
    ) throws(StoreError) -> [DeviceID: DeviceRecord] {
        try StoreCopy.withReader(of: path) { queue in
            try queue.read { database in
                try StorePlace(path: path).checkOwner(in: database)
                guard try Schema.migrator.hasCompletedMigrations(database) else {
                    throw StoreError(
                        .unavailable,
                        "\(path) was made by an older version. Start the gateway once: it converts the store.")
                }
                return try devices.reduce(into: [:]) { records, device in
                    records[device] = try DeviceQueries.profile(of: device, in: database)?.record ?? DeviceRecord()
                }
            }
        }
    }
}
