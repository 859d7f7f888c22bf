import GRDB
import Testing
import Vitals

@testable import Store

@Suite struct CommandTests {
    static let envelope = CommandEnvelope(
        id: "c-81", device: .band, command: "sync", expiresAt: dawn + .hours(1), responseTopic: "answers/1",
        correlation: [0, 255, 7])

    private func answer(_ key: String = "c-81", _ payload: [UInt8] = [1, 2, 3], at moment: Timestamp = dawn)
        -> StoredAnswer
    {
        StoredAnswer(key: key, topic: "answers/1", correlation: [0, 255], payload: payload, at: moment)
    }

    @Test func `the same command within ten minutes gets the same answer, also over a restart`() async throws {
        let folder = try StoreFolder()
        var store = try folder.open()
        #expect(try await store.begin(Self.envelope, key: "c-81", at: dawn) == .new)
        #expect(try await store.begin(Self.envelope, key: "c-81", at: dawn) == .running)
        #expect(try await store.begin(Self.envelope, key: "other", at: dawn) == .new)
        try await store.complete(answer())
        try await store.close()
        store = try folder.open()
        #expect(try await store.begin(Self.envelope, key: "c-81", at: dawn + .seconds(599)) == .answered([1, 2, 3]))
        #expect(try await store.begin(Self.envelope, key: "c-81", at: dawn + .minutes(10)) == .new)
        #expect(try await store.begin(Self.envelope, key: "c-81", at: dawn + .minutes(10)) == .running)
    }

    @Test func `an answer of a clock that was ahead is not remembered until then`() async throws {
        let store = try SQLiteStore.scratch()
        #expect(try await store.begin(Self.envelope, key: "c-81", at: dawn + .days(1)) == .new)
        try await store.complete(answer(at: dawn + .days(1)))
        let set = dawn + .days(1) - .minutes(9)
        #expect(try await store.begin(Self.envelope, key: "c-81", at: set) == .answered([1, 2, 3]))
        #expect(try await store.begin(Self.envelope, key: "c-81", at: dawn) == .new)
    }

    @Test func `names the commands that a crash left without an answer`() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        _ = try await store.begin(Self.envelope, key: "1", at: dawn)
        _ = try await store.begin(CommandEnvelope(device: nil, command: "scan"), key: "2", at: dawn)
        try await store.complete(answer("2"))
        let other = try folder.crashed()
        let left = try await other.open().unanswered(after: 0, limit: 9)
        #expect(left.map(\.key) == ["1"])
        #expect(left.map(\.envelope) == [Self.envelope])
    }

    @Test func `unanswered commands are read in pages, and each is small whatever its correlation data`() async throws {
        let store = try SQLiteStore.scratch()
        var envelope = Self.envelope
        envelope.correlation = (0..<1_024).map { UInt8(truncatingIfNeeded: $0) }
        for number in 1...5 { _ = try await store.begin(envelope, key: "\(number)", at: dawn) }
        let first = try await store.unanswered(after: 0, limit: 3)
        #expect(first.map(\.key) == ["1", "2", "3"])
        #expect(first.allSatisfy { $0.envelope == envelope })
        let second = try await store.unanswered(after: try #require(first.last).number, limit: 3)
        #expect(second.map(\.key) == ["4", "5"])
        #expect(try await store.unanswered(after: try #require(second.last).number, limit: 3).isEmpty)
        let longest = try await store.write { transaction in
            try Int.fetchOne(transaction.database, sql: "SELECT max(length(envelope)) FROM command")
        }
        #expect(try #require(longest) < 1_700)
    }

    @Test func `reads the correlation data of a command that an earlier version began`() async throws {
        let store = try SQLiteStore.scratch()
        try await store.write { transaction in
            let old = #"{"command":"sync","device":"band-1","correlation":[0,255,7]}"#
            try transaction.execute("INSERT INTO command(key, begun_at, envelope) VALUES ('1', 0, ?)", [old])
        }
        #expect(try await store.unanswered(after: 0, limit: 9).first?.envelope.correlation == [0, 255, 7])
    }

    @Test func `answers wait in their order until they are acknowledged`() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        for key in ["a", "b", "c"] { try await store.complete(answer(key, Array(key.utf8))) }
        #expect(folder.committed.entries.map(\.number) == [1, 2, 3])
        let waiting = try await store.pending(.answer, after: 0, limit: 9)
        #expect(waiting == folder.committed.entries)
        #expect(waiting.first?.answer == answer("a", Array("a".utf8)))
        try await store.acknowledge(.answer, through: 2)
        #expect(try await store.pending(.answer, after: 0, limit: 9).compactMap(\.answer?.key) == ["c"])
        #expect(try await store.pending(.answer, after: 3, limit: 9).isEmpty)
        #expect(try await store.statistics().pending[.answer] == 1)
        #expect(try await store.begin(Self.envelope, key: "a", at: dawn) == .answered(Array("a".utf8)))
    }

    @Test func `a command gets one final answer only`() async throws {
        let store = try SQLiteStore.scratch()
        _ = try await store.begin(Self.envelope, key: "c-81", at: dawn)
        try await store.complete(answer())
        try await store.complete(answer("c-81", [9]))
        #expect(try await store.pending(.answer, after: 0, limit: 9).compactMap(\.answer?.payload) == [[1, 2, 3]])
    }

    @Test func `an answer may be empty and without correlation`() async throws {
        let store = try SQLiteStore.scratch()
        let empty = StoredAnswer(key: "k", topic: "t", correlation: nil, payload: [], at: dawn)
        try await store.complete(empty)
        #expect(try await store.pending(.answer, after: 0, limit: 9).map(\.answer) == [empty])
    }

    @Test func `forgets answers after ten minutes and counts those that were never sent`() async throws {
        let store = try SQLiteStore.scratch()
        try await store.complete(answer("sent"))
        try await store.complete(answer("unsent"))
        try await store.complete(answer("young", at: dawn + .minutes(5)))
        try await store.acknowledge(.answer, through: 1)
        #expect(try await store.clean(at: dawn + .minutes(11)) == false)
        let statistics = try await store.statistics()
        #expect(statistics.dropped == ["answer": 1])
        #expect(statistics.pending[.answer] == 1)
        #expect(try await store.pending(.answer, after: 0, limit: 9).compactMap(\.answer?.key) == ["young"])
    }

    @Test func `remembers a bounded number of answers`() async throws {
        let store = try SQLiteStore.scratch { $0.maximumAnswers = 3 }
        for number in 0..<6 {
            try await store.complete(answer("\(number)"))
            try await store.acknowledge(.answer, through: Int64(number + 1))
        }
        for number in 0..<6 {
            let isKept = try await store.begin(Self.envelope, key: "\(number)", at: dawn) != .new
            #expect(isKept == (number >= 3), "\(number)")
        }
        #expect(try await store.statistics().dropped == [:])
    }

    @Test func `answers to callers of this process take no number, and the newest of them are remembered`() async throws
    {
        let store = try SQLiteStore.scratch {
            $0.maximumUnsentAnswers = 3
            $0.maximumUnsentAnswerBytes = 1_000
        }
        func complete(_ key: String, bytes: Int = 1) async throws {
            try await store.complete(
                StoredAnswer(
                    key: key, topic: "", correlation: nil, payload: Array(repeating: 7, count: bytes), at: dawn))
        }
        func remembered(_ keys: [String], at moment: Timestamp = dawn) async throws -> [Bool] {
            var found: [Bool] = []
            for key in keys { found.append(try await store.begin(Self.envelope, key: key, at: moment) != .new) }
            return found
        }
        for key in ["a", "b", "c", "d"] { try await complete(key) }
        #expect(try await store.pending(.answer, after: 0, limit: 9).isEmpty)
        #expect(try await store.statistics().pending[.answer] == 0)
        #expect(try await remembered(["b", "c", "d"]) == [true, true, true])
        for key in ["e", "f"] { try await complete(key, bytes: 600) }
        #expect(try await remembered(["d", "e", "f"]) == [false, false, true])
        _ = try await store.clean(at: dawn + .minutes(11))
        #expect(try await remembered(["f"], at: dawn + .minutes(11)) == [false])
        try await complete("band-1 sync x")
        try await store.forget(.band)
        #expect(try await remembered(["band-1 sync x"]) == [false])
        #expect(try await store.statistics().dropped == [:])
    }

    @Test func `remembers a bounded number of bytes`() async throws {
        let store = try SQLiteStore.scratch { $0.maximumAnswerBytes = 1_000 }
        for number in 0..<4 {
            try await store.complete(answer("\(number)", Array(repeating: 0, count: 400)))
            try await store.acknowledge(.answer, through: Int64(number + 1))
        }
        for number in 0..<4 {
            let isKept = try await store.begin(Self.envelope, key: "\(number)", at: dawn) != .new
            #expect(isKept == (number >= 2), "\(number)")
        }
    }

    @Test(arguments: [false, true])
    func `topics and correlation data count among the bytes, also of answers that an earlier version stored`(
        isOld: Bool
    ) async throws {
        let folder = try StoreFolder()
        var options = StoreOptions()
        options.maximumAnswerBytes = 1_000
        var store = try folder.open(options)
        func answer(_ key: String) -> StoredAnswer {
            StoredAnswer(
                key: key, topic: String(repeating: "t", count: 200), correlation: [UInt8](repeating: 1, count: 200),
                payload: [1], at: dawn)
        }
        for key in ["0", "1"] { try await store.complete(answer(key)) }
        if isOld {
            try await store.close()
            try await DatabaseQueue(path: folder.path).write { database in
                try database.execute(sql: "UPDATE store SET answer_bytes = 2")
            }
            store = try folder.open(options)
        }
        try await store.acknowledge(.answer, through: 2)
        try await store.complete(answer("2"))
        for (key, isKept) in [("0", false), ("1", true), ("2", true)] {
            let beginning = try await store.begin(Self.envelope, key: key, at: dawn)
            #expect((beginning != .new) == isKept, "\(key)")
        }
    }

    /// What waits for the broker at the limit, and a store whose limit is reached.
    private func full(
        _ folder: borrowing StoreFolder, _ options: StoreOptions, bytes: Int = 3
    ) async throws -> SQLiteStore {
        let store = try folder.open(options)
        #expect(try await store.begin(Self.envelope, key: "runs", at: dawn) == .new)
        for number in 0..<3 {
            try await store.complete(answer("\(number)", Array(repeating: 0, count: bytes)))
        }
        return store
    }

    private func expectNothingLost(in store: SQLiteStore, bytes: Int = 3) async throws {
        #expect(try await store.begin(Self.envelope, key: "next", at: dawn) == .full)
        await #expect { try await store.complete(answer("busy")) } throws: { ($0 as? StoreError)?.code == .answersWait }
        // What has begun has its place.
        try await store.complete(answer("runs"))
        #expect(
            try await store.pending(.answer, after: 0, limit: 9).compactMap(\.answer?.key) == ["0", "1", "2", "runs"])
        #expect(try await store.unanswered(after: 0, limit: 9).isEmpty)
        #expect(try await store.statistics().dropped == [:])
        // A repeated question gets the same answer.
        let known = try await store.begin(Self.envelope, key: "0", at: dawn)
        #expect(known == .answered(Array(repeating: 0, count: bytes)))
        try await store.acknowledge(.answer, through: 3)
        #expect(try await store.begin(Self.envelope, key: "next", at: dawn) == .new)
    }

    @Test func `no answer is dropped while the broker has none of them, and no further command begins`() async throws {
        let folder = try StoreFolder()
        var options = StoreOptions()
        options.maximumAnswers = 3
        try await expectNothingLost(in: try await full(folder, options))
    }

    @Test func `answers that wait are not dropped for their bytes either`() async throws {
        let folder = try StoreFolder()
        var options = StoreOptions()
        options.maximumAnswerBytes = 1_000
        try await expectNothingLost(in: try await full(folder, options, bytes: 400), bytes: 400)
    }
    @Test func `another content under the key of a command is refused, and changes nothing`() async throws {
        let folder = try StoreFolder()
        var store = try folder.open()
        var other = Self.envelope
        other.content = SampleID(name: "{}")
        #expect(try await store.begin(Self.envelope, key: "c-81", at: dawn) == .new)
        #expect(try await store.begin(other, key: "c-81", at: dawn) == .reused)
        try await store.complete(answer())
        try await store.close()
        store = try folder.open()
        #expect(try await store.begin(other, key: "c-81", at: dawn) == .reused)
        #expect(try await store.begin(Self.envelope, key: "c-81", at: dawn) == .answered([1, 2, 3]))
        // Ten minutes later the id is free.
        #expect(try await store.begin(other, key: "c-81", at: dawn + .minutes(10)) == .new)
        #expect(try await store.unanswered(after: 0, limit: 9).map(\.envelope) == [other])
    }

    @Test func `a removed device takes its answers with it, also those that wait, and only its own`() async throws {
        let store = try SQLiteStore.scratch()
        let others = ["band-10 sync 1", "gateway sync 1"]
        for key in ["band-1 sync 1"] + others + ["band-1 sync 2"] { try await store.complete(answer(key)) }
        try await store.acknowledge(.answer, through: 1)
        try await store.forget(.band)
        #expect(try await store.pending(.answer, after: 0, limit: 9).compactMap(\.answer?.key) == others)
        #expect(try await store.statistics().pending[.answer] == 2)
        #expect(try await store.statistics().dropped == ["answer": 1])
        for number in 1...2 {
            #expect(try await store.begin(Self.envelope, key: "band-1 sync \(number)", at: dawn) == .new)
        }
        for key in others { #expect(try await store.begin(Self.envelope, key: key, at: dawn) == .answered([1, 2, 3])) }
    }

    /// The limits of count and of bytes, and how many answers of so many bytes one device may have waiting.
    static let shares: [(maximum: Int, bytes: Int64, size: Int, share: Int)] = [
        (10, 64 << 20, 3, 5), (100, 1_000, 400, 2),
    ]

    @Test(arguments: shares.indices)
    func `the answers of one device that wait for the broker leave room for those of others`(index: Int) async throws {
        let (maximum, bytes, size, share) = Self.shares[index]
        let folder = try StoreFolder()
        var options = StoreOptions()
        (options.maximumAnswers, options.maximumAnswerBytes) = (maximum, bytes)
        var store = try folder.open(options)
        for number in 1...share {
            #expect(try await store.begin(Self.envelope, key: "band-1 sync \(number)", at: dawn) == .new)
            try await store.complete(answer("band-1 sync \(number)", [UInt8](repeating: 0, count: size)))
        }
        #expect(try await store.begin(Self.envelope, key: "band-1 sync next", at: dawn) == .full)
        try await store.close()
        store = try folder.open(options)
        #expect(try await store.begin(Self.envelope, key: "band-1 sync next", at: dawn) == .full)
        #expect(try await store.begin(Self.envelope, key: "ring-1 sync 1", at: dawn) == .new)
        try await store.acknowledge(.answer, through: Int64(share))
        #expect(try await store.begin(Self.envelope, key: "band-1 sync next", at: dawn) == .new)
    }
}
