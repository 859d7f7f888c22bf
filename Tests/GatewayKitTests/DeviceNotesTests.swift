import GatewayKit
import Synchronization
import Testing

@Suite struct DeviceNotesTests {
    @Test func `keeps notes in memory as long as nobody else keeps them`() async throws {
        let notes = DeviceNotes()
        #expect(try await notes.all().isEmpty)
        try await notes.save(["a": [1], "b": []])
        try await notes.save(["a": nil, "c": [0, 255], "d": nil])
        #expect(try await notes.all() == ["b": [], "c": [0, 255]])
    }

    /// A store of notes that counts its calls.
    private final class Shelf: Sendable {
        let state = Mutex((notes: ["old": [UInt8(7)]], saves: 0))
        let error: DeviceError?

        init(error: DeviceError? = nil) { self.error = error }

        var storage: DeviceNotes.Storage {
            DeviceNotes.Storage { () async throws(DeviceError) in
                if let error = self.error { throw error }
                return self.state.withLock { $0.notes }
            } save: { changes throws(DeviceError) in
                self.state.withLock { state in
                    state.saves += 1
                    for (name, bytes) in changes { state.notes[name] = bytes }
                }
            }
        }
    }

    @Test func `the gateway keeps them, and no change is none`() async throws {
        let notes = DeviceNotes()
        let shelf = Shelf()
        notes.attach(to: shelf.storage)
        #expect(try await notes.all() == ["old": [7]])
        try await notes.save([:])
        try await notes.save(["old": nil, "new": [1]])
        #expect(shelf.state.withLock { $0.notes } == ["new": [1]])
        #expect(shelf.state.withLock { $0.saves } == 1)
        notes.attach(to: Shelf(error: DeviceError(.failure, "the disk")).storage)
        await #expect(throws: DeviceError(.failure, "the disk")) { _ = try await notes.all() }
    }

    @Test(arguments: [true, false]) func `there is a limit for names, sizes and their number`(isKept: Bool) async throws
    {
        let notes = DeviceNotes()
        let shelf = Shelf()
        if isKept { notes.attach(to: shelf.storage) }
        let largest = [UInt8](repeating: 1, count: DeviceNotes.maximumSize)
        let longest = String(repeating: "é", count: DeviceNotes.maximumName / 2)
        try await notes.save([longest: largest, "old": [1]])
        for (name, bytes) in [("", [UInt8(1)]), (longest + "x", []), ("x", largest + [1])] {
            let error = await #expect(throws: DeviceError.self) { try await notes.save([name: bytes, "y": [1]]) }
            #expect(error?.code == .invalid)
        }
        #expect(try await notes.all() == [longest: largest, "old": [1]])

        let rest = Dictionary(uniqueKeysWithValues: (2..<DeviceNotes.maximumNotes).map { ("\($0)", [UInt8]()) })
        try await notes.save(rest)
        await #expect(throws: DeviceError(.invalid, "A device may have at most 1000 notes.")) {
            try await notes.save(["one more": []])
        }
        // One that makes room, and one that was there before.
        try await notes.save(["old": nil, "one more": [], longest: []])
        #expect(try await notes.all().count == DeviceNotes.maximumNotes)
    }
}
