import DequeModule
package import Vitals

/// Decides what goes to the broker next: the lanes by urgency, each in its order, and nothing past the window.
///
/// Newly committed entries are kept in memory, up to a limit; the others are read back from the store when their turn
/// comes. After a lost connection all unacknowledged entries are sent again, from the store.
package struct DeliveryMachine: Sendable {
    /// Waiting entries in memory per lane, in samples (`Sample.weight`) or the same size of answers: about ten megabytes.
    /// Entries beyond that are read back from the store.
    package static let maximumWaiting = 20_000
    /// Entries that are read back at once.
    package static let pageSize = 256

    /// What to do next.
    package enum Step: Sendable, Hashable {
        case send(OutboxEntry)
        /// Read this lane's waiting entries behind this number.
        case page(Lane, after: Int64)
        /// Wait: there is nothing to do, or the window is full.
        case rest
    }

    private struct LaneState: Sendable {
        /// Everything up to here was sent on this connection, or was acknowledged before it.
        var cursor: Int64 = 0
        /// Entries behind the cursor, without a hole as long as `isComplete`.
        var waiting: Deque<OutboxEntry> = []
        var weight = 0
        /// Whether everything that the store has behind the cursor is in `waiting`.
        var isComplete = false
        /// The newest number that was committed in this lane, as far as we know.
        var newest: Int64 = 0
        /// What was sent and not acknowledged yet, ascending.
        var inFlight: Deque<(number: Int64, isDone: Bool)> = []
        /// Everything up to here was acknowledged.
        var watermark: Int64 = 0
        /// The watermark that is on disk, or on its way there.
        var stored: Int64 = 0
        var isPaging = false
        var counts = LaneCounts()
        /// `newest` when the page that is being read was asked for.
        var newestAtPage: Int64 = 0

        /// The last number that was sent or waits to be.
        var tail: Int64 { waiting.last?.number ?? cursor }
    }

    private var lanes = [LaneState](repeating: LaneState(), count: Lane.allCases.count)
    private var isConnected = false
    private var flying = 0
    private var window = 0

    package init() {}

    /// Begins a connection: first reads all waiting entries from the store.
    package mutating func connect(window: Int) {
        isConnected = true
        flying = 0
        self.window = max(1, window)
        for index in lanes.indices {
            lanes[index].inFlight = []
            lanes[index].waiting = []
            lanes[index].weight = 0
            lanes[index].isComplete = false
            lanes[index].isPaging = false
            lanes[index].cursor = lanes[index].watermark
        }
    }

    /// Lets this many messages be in flight from now on; those that are in flight stay.
    package mutating func setWindow(_ window: Int) { self.window = max(1, window) }

    package mutating func disconnect() { isConnected = false }

    /// Entries were committed, in the order of their numbers. They are kept if they follow the present entries.
    package mutating func committed(_ entries: [OutboxEntry]) {
        for entry in entries {
            let index = entry.lane.rawValue
            lanes[index].counts.stored += 1
            lanes[index].newest = max(lanes[index].newest, entry.number)
            // An entry may be in a page that was read between its commit and this call.
            guard isConnected, lanes[index].isComplete, entry.number > lanes[index].tail else { continue }
            if lanes[index].weight >= Self.maximumWaiting {
                lanes[index].isComplete = false
            } else {
                lanes[index].waiting.append(entry)
                lanes[index].weight += entry.weight
            }
        }
    }

    /// What to do next. The caller calls again after each step.
    package mutating func next() -> Step {
        guard isConnected else { return .rest }
        for lane in Lane.allCases { if let step = next(in: lane) { return step } }
        return .rest
    }

    /// Whether the window has room.
    package var hasRoom: Bool { isConnected && flying < window }

    /// Whether `next` would not rest. While a page is being read, the reader has to be awaited.
    package var hasWork: Bool {
        hasRoom && !lanes.contains(where: \.isPaging) && lanes.contains { !$0.waiting.isEmpty || !$0.isComplete }
    }

    private mutating func next(in lane: Lane) -> Step? {
        let index = lane.rawValue
        guard hasRoom else { return nil }
        if let entry = lanes[index].waiting.popFirst() {
            lanes[index].weight -= entry.weight
            lanes[index].cursor = entry.number
            lanes[index].inFlight.append((entry.number, false))
            flying += 1
            lanes[index].counts.sent += 1
            return .send(entry)
        }
        guard !lanes[index].isComplete, !lanes[index].isPaging else { return nil }
        lanes[index].isPaging = true
        lanes[index].newestAtPage = lanes[index].newest
        return .page(lane, after: lanes[index].cursor)
    }

    /// Adds a page read on the current connection. If entries committed meanwhile are not in it, the lane reads another
    /// page.
    package mutating func paged(_ lane: Lane, _ entries: [OutboxEntry]) {
        let index = lane.rawValue
        guard lanes[index].isPaging else { return }
        lanes[index].isPaging = false
        for entry in entries where entry.number > lanes[index].tail {
            lanes[index].waiting.append(entry)
            lanes[index].weight += entry.weight
        }
        let reached = entries.last?.number ?? lanes[index].cursor
        // Without a commit since the page request, entries missing from the page were dropped and will not come.
        let isUpToDate = reached >= lanes[index].newest || lanes[index].newest == lanes[index].newestAtPage
        lanes[index].isComplete = entries.count < Self.pageSize && isUpToDate
    }

    /// A page could not be read; it is tried again when something happens.
    package mutating func pageFailed(_ lane: Lane) {
        guard lanes[lane.rawValue].isPaging else { return }
        lanes[lane.rawValue].isPaging = false
        lanes[lane.rawValue].isComplete = false
    }

    /// A state message was handed over: it takes a place in the window until it is acknowledged.
    package mutating func sentState() { flying += 1 }
    package mutating func acknowledgedState() { flying = max(0, flying - 1) }

    /// The broker has a message. One that is not in flight on this connection changes nothing.
    package mutating func acknowledged(_ lane: Lane, _ number: Int64) {
        let index = lane.rawValue
        // Acknowledgements come nearly always in order: the first that is not done is the one.
        guard let position = lanes[index].inFlight.firstIndex(where: { $0.number == number }),
            !lanes[index].inFlight[position].isDone
        else { return }
        flying = max(0, flying - 1)
        lanes[index].inFlight[position].isDone = true
        lanes[index].counts.acknowledged += 1
        while let first = lanes[index].inFlight.first, first.isDone {
            lanes[index].watermark = first.number
            lanes[index].inFlight.removeFirst()
        }
    }

    /// The watermarks of these lanes that are not in the store yet.
    package func watermarks(of wanted: [Lane]) -> [(lane: Lane, through: Int64)] {
        wanted.compactMap { lane in
            let state = lanes[lane.rawValue]
            return state.watermark > state.stored ? (lane, state.watermark) : nil
        }
    }

    /// The watermarks of these lanes that must go to the store. They count as stored from now on.
    package mutating func takeWatermarks(of wanted: [Lane] = Lane.allCases) -> [(lane: Lane, through: Int64)] {
        wanted.compactMap { lane in
            let index = lane.rawValue
            guard lanes[index].watermark > lanes[index].stored else { return nil }
            lanes[index].stored = lanes[index].watermark
            return (lane, lanes[index].watermark)
        }
    }

    /// A lane's watermark could not be stored: it must go to the store again.
    package mutating func watermarkFailed(_ lane: Lane) { lanes[lane.rawValue].stored = 0 }

    /// Messages that are with the broker and not acknowledged yet.
    package var inFlight: Int { flying }

    /// The messages of a lane that have passed each stage.
    package func counts(of lane: Lane) -> LaneCounts { lanes[lane.rawValue].counts }
}

extension OutboxEntry {
    /// How much of the memory's limit an entry takes: those of its samples, or as many as samples have its bytes.
    fileprivate var weight: Int {
        switch self {
        case .fact(let fact):
            if case .measurement(let measurement) = fact.content {
                max(1, measurement.samples.reduce(0) { $0 + $1.sample.weight })
            } else {
                1
            }
        case .answer(_, let answer): max(1, answer.size / 512)
        }
    }
}
