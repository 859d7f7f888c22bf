import Store
import TestSupport
import Testing
import Vitals

@Suite struct NoteTests {
    @Test func `keeps what drivers note over a restart, each device for itself`() async throws {
        let folder = try StoreFolder()
        var store = try folder.open()
        #expect(try await store.notes(of: .band).isEmpty)
        try await store.saveNotes(["a": [0, 1, 255], "b": [], "c": [3]], of: .band)
        try await store.saveNotes(["a": [9]], of: .ring)
        try await store.saveNotes(["c": nil, "b": [4], "never": nil], of: .band)
        try await store.close()
        store = try folder.open()
        #expect(try await store.notes(of: .band) == ["a": [0, 1, 255], "b": [4]])
        #expect(try await store.notes(of: .ring) == ["a": [9]])
    }

    @Test func `a crash after a change leaves all of it`() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        try await store.saveNotes(["a": [1], "b": [2]], of: .band)
        #expect(try await folder.crashed().open().notes(of: .band) == ["a": [1], "b": [2]])
    }

    @Test func `a device that is forgotten takes its notes along`() async throws {
        let store = try SQLiteStore.scratch()
        _ = try await store.ingest(Ingest(.band, [beat(0)]))
        for device in [DeviceID.band, .ring] { try await store.saveNotes(["a": [1]], of: device) }
        try await store.forget(.band)
        #expect(try await store.notes(of: .band).isEmpty)
        #expect(try await store.notes(of: .ring) == ["a": [1]])
        #expect(try await store.all().count == 1)
    }
}
