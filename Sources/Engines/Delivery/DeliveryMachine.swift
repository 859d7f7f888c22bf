package import Vitals

/// Decides what goes to the broker next: the lanes by urgency, each in its order, and nothing past the window.
///
/// Facts that were just committed are kept in memory, up to a limit; what does not fit is read back from the store when
/// its turn comes. After a lost connection everything that was not acknowledged is sent again, from the store.
package struct DeliveryMachine: Sendable {
    /// Samples that wait in memory per lane, about ten megabytes; more are read back from the store.
    package static let maximumWaiting = 20_000
    /// Facts that are read back at once.
    package static let pageSize = 256

    /// What to do next.
    package enum Step: Sendable, Hashable {
        case send(Fact)
        case sendAnswer(number: Int64, StoredAnswer)
        /// Read what waits of this lane behind this number.
        case page(Lane, after: Int64)
        /// Nothing is to do, or the window is full.
        case rest
    }

    private struct LaneState: Sendable {
        /// Everything up to here was sent on this connection, or was acknowledged before it.
        var cursor: Int64 = 0
        /// Facts behind the cursor, without a hole as long as `isComplete`.
        var waiting: [Fact] = []
        var head = 0
        var weight = 0
        /// Whether everything that the store has behind the cursor is in `waiting`.
        var isComplete = false
        /// The newest number that was committed in this lane, as far as we know.
        var newest: Int64 = 0
        /// What was sent and not acknowledged yet, ascending.
        var inFlight: [(number: Int64, isDone: Bool)] = []
        var inFlightHead = 0
        /// Everything up to here was acknowledged.
        var watermark: Int64 = 0
        /// The watermark that is on disk, or on its way there.
        var stored: Int64 = 0
        var isPaging = false
        /// `newest` when the page that is being read was asked for.
        var newestAtPage: Int64 = 0

        /// The last number that was sent or waits to be.
        var tail: Int64 { waiting.last?.sequence ?? cursor }
    }

    private var lanes = [LaneState](repeating: LaneState(), count: Lane.allCases.count)
    private var answers: [(number: Int64, answer: StoredAnswer)] = []
    private var isConnected = false
    private var flying = 0
    private var window = 0

    package init() {}

    /// A connection is open: everything that waits is read from the store first.
    package mutating func connect(window: Int) {
        isConnected = true
        flying = 0
        self.window = max(1, window)
        answers = []
        for index in lanes.indices {
            lanes[index].inFlight = []
            lanes[index].inFlightHead = 0
            lanes[index].waiting = []
            lanes[index].head = 0
            lanes[index].weight = 0
            lanes[index].isComplete = false
            lanes[index].isPaging = false
            lanes[index].cursor = lanes[index].watermark
        }
    }

    package mutating func disconnect() { isConnected = false }

    /// Facts were committed, in the order of their numbers. They are kept where they follow what is there.
    package mutating func committed(_ facts: [Fact]) {
        for fact in facts {
            let index = fact.lane.rawValue
            lanes[index].newest = max(lanes[index].newest, fact.sequence)
            // A fact may be in a page that was read between its commit and this call.
            guard isConnected, lanes[index].isComplete, fact.sequence > lanes[index].tail else { continue }
            if lanes[index].weight >= Self.maximumWaiting {
                lanes[index].isComplete = false
            } else {
                lanes[index].waiting.append(fact)
                lanes[index].weight += fact.weight
            }
        }
    }

    /// An answer was kept. It is read from the store when its turn comes.
    package mutating func committedAnswer() { lanes[Lane.answer.rawValue].isComplete = false }

    /// What to do next. The caller calls again after each step.
    package mutating func next() -> Step {
        guard isConnected else { return .rest }
        for lane in Lane.allCases {
            if lane == .answer {
                if let step = nextAnswer() { return step }
            } else if let step = nextFact(lane) {
                return step
            }
        }
        return .rest
    }

    /// Whether the window has room.
    package var hasRoom: Bool { isConnected && flying < window }

    private mutating func nextFact(_ lane: Lane) -> Step? {
        let index = lane.rawValue
        guard hasRoom else { return nil }
        if lanes[index].head < lanes[index].waiting.count {
            let fact = lanes[index].waiting[lanes[index].head]
            lanes[index].head += 1
            lanes[index].weight -= fact.weight
            if lanes[index].head == lanes[index].waiting.count {
                lanes[index].waiting.removeAll(keepingCapacity: true)
                lanes[index].head = 0
            } else if lanes[index].head >= 1024 {
                lanes[index].waiting.removeFirst(lanes[index].head)
                lanes[index].head = 0
            }
            lanes[index].cursor = fact.sequence
            lanes[index].inFlight.append((fact.sequence, false))
            flying += 1
            return .send(fact)
        }
        guard !lanes[index].isComplete, !lanes[index].isPaging else { return nil }
        lanes[index].isPaging = true
        lanes[index].newestAtPage = lanes[index].newest
        return .page(lane, after: lanes[index].cursor)
    }

    private mutating func nextAnswer() -> Step? {
        let index = Lane.answer.rawValue
        guard hasRoom else { return nil }
        if !answers.isEmpty {
            let (number, answer) = answers.removeFirst()
            lanes[index].cursor = number
            lanes[index].inFlight.append((number, false))
            flying += 1
            return .sendAnswer(number: number, answer)
        }
        guard !lanes[index].isComplete, !lanes[index].isPaging else { return nil }
        lanes[index].isPaging = true
        // An answer that is kept while the page is read makes the lane incomplete again.
        lanes[index].isComplete = true
        return .page(.answer, after: lanes[index].cursor)
    }

    /// A page was read, on the connection on which it was asked for. Facts that were committed meanwhile and are not in it
    /// make the lane read on.
    package mutating func paged(_ lane: Lane, _ facts: [Fact]) {
        let index = lane.rawValue
        guard lanes[index].isPaging else { return }
        lanes[index].isPaging = false
        for fact in facts where fact.sequence > lanes[index].tail {
            lanes[index].waiting.append(fact)
            lanes[index].weight += fact.weight
        }
        let reached = facts.last?.sequence ?? lanes[index].cursor
        // Where nothing was committed since the page was asked for, what it lacks was dropped and will not come.
        let isUpToDate = reached >= lanes[index].newest || lanes[index].newest == lanes[index].newestAtPage
        lanes[index].isComplete = facts.count < Self.pageSize && isUpToDate
    }

    package mutating func paged(_ page: [(number: Int64, answer: StoredAnswer)]) {
        guard lanes[Lane.answer.rawValue].isPaging else { return }
        lanes[Lane.answer.rawValue].isPaging = false
        answers += page.filter { $0.number > lanes[Lane.answer.rawValue].cursor }
        if page.count >= Self.pageSize { lanes[Lane.answer.rawValue].isComplete = false }
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
        var position = lanes[index].inFlightHead
        while position < lanes[index].inFlight.count, lanes[index].inFlight[position].number != number { position += 1 }
        guard position < lanes[index].inFlight.count, !lanes[index].inFlight[position].isDone else { return }
        flying = max(0, flying - 1)
        lanes[index].inFlight[position].isDone = true
        while lanes[index].inFlightHead < lanes[index].inFlight.count,
            lanes[index].inFlight[lanes[index].inFlightHead].isDone
        {
            lanes[index].watermark = lanes[index].inFlight[lanes[index].inFlightHead].number
            lanes[index].inFlightHead += 1
        }
        if lanes[index].inFlightHead >= 1024 || lanes[index].inFlightHead == lanes[index].inFlight.count {
            lanes[index].inFlight.removeFirst(lanes[index].inFlightHead)
            lanes[index].inFlightHead = 0
        }
    }

    /// The watermarks that have to go to the store. They count as stored from now on.
    package mutating func takeWatermarks() -> [(lane: Lane, through: Int64)] {
        Lane.allCases.compactMap { lane in
            let index = lane.rawValue
            guard lanes[index].watermark > lanes[index].stored else { return nil }
            lanes[index].stored = lanes[index].watermark
            return (lane, lanes[index].watermark)
        }
    }

    /// A lane's watermark could not be kept: it has to go to the store again.
    package mutating func watermarkFailed(_ lane: Lane) { lanes[lane.rawValue].stored = 0 }

    /// Messages that are with the broker and not acknowledged yet.
    package var inFlight: Int { flying }
}

extension Fact {
    /// How much of the memory's limit a fact takes: as many places as it has samples.
    fileprivate var weight: Int {
        if case .measurement(let measurement) = content { max(1, measurement.samples.count) } else { 1 }
    }
}
