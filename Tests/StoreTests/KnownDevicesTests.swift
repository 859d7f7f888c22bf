import GRDB
import Testing
import Vitals

@testable import Store

/// What a dashboard is made from.
@Suite struct KnownDevicesTests {
    @Test func `reads what a device can do while a gateway uses the store`() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        let can = Capabilities([.heartRate: .monitor])
        try await store.save([.identity(DeviceIdentity(model: "Band"), can), .features([.battery, .worn])], of: .band)
        let ring = try #require(DeviceID("ring"))
        let profiles = try KnownDevices.profiles(of: [.band, ring], in: folder.path)
        #expect(profiles[.band]?.capabilities == can)
        #expect(profiles[.band]?.features == [.battery, .worn])
        #expect(profiles[ring] == DeviceRecord())
        try await store.close()
    }

    @Test func `says of a store of an older version that the gateway converts it, and of none that it is not there`()
        async throws
    {
        let folder = try StoreFolder()
        #expect { try KnownDevices.profiles(of: [.band], in: folder.path) } throws: {
            "\($0)".contains("There is no file")
        }
        let store = try folder.open()
        try await store.write { transaction in
            try transaction.database.execute(
                sql: "DELETE FROM grdb_migrations WHERE identifier = (SELECT max(identifier) FROM grdb_migrations)")
        }
        try await store.close()
        #expect { try KnownDevices.profiles(of: [.band], in: folder.path) } throws: {
            "\($0)".contains("Start the gateway once: it converts the store.")
        }
    }
}
