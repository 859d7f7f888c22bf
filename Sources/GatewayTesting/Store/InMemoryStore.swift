package import Engines
import Synchronization
package import Vitals

/// A store that keeps everything in memory, for as long as it lives: what is on disk for the real one survives an agent
/// here, too. It keeps the protocol to the letter, and does nothing else: no limits, no retention.
package final class InMemoryStore: GatewayStore {
    struct Device: Sendable {
        var record = DeviceRecord()
        var samples: [SampleID: StoredSample] = [:]
        var days: [MetricDay: DayRecord] = [:]
        var deviceDays: [MetricDay: DailySummary] = [:]
    }

    struct Command: Sendable {
        var envelope: CommandEnvelope
        var begunAt: Timestamp
        var payload: [UInt8]?
    }

    struct State: Sendable {
        var devices: [DeviceID: Device] = [:]
        /// Every fact, by its number less one.
        var facts: [Fact] = []
        var acknowledged: [Lane: Int64] = [:]
        var answers: [(number: Int64, answer: StoredAnswer)] = []
        var commands: [String: Command] = [:]
        var failure: (@Sendable (Operation) -> StoreError?)?
    }

    /// What the store is asked for, to let it fail.
    package enum Operation: Sendable, Hashable { case load, take, save, settle, read, command, facts }

    /// The store's own identity.
    package let identity: SampleID
    let state = Mutex(State())
    private let committed: @Sendable ([Fact]) -> Void

    /// An empty store.
    /// - Parameter committed: called with the facts of each transaction, in the order of their numbers.
    package init(
        identity: SampleID = SampleID(high: 1, low: 1), committed: @escaping @Sendable ([Fact]) -> Void = { _ in }
    ) {
        self.identity = identity
        self.committed = committed
    }

    /// Lets operations fail from now on; `nil` lets all succeed.
    package func fail(_ failure: (@Sendable (Operation) -> StoreError?)?) { state.withLock { $0.failure = failure } }

    /// Every fact so far, in the order of their numbers.
    package var facts: [Fact] { state.withLock { $0.facts } }
    /// Every sample of a device, in the order of (start, end, user-initiated).
    package func samples(of device: DeviceID) -> [StoredSample] {
        state.withLock { state in
            state.devices[device, default: Device()].samples.values
                .sorted {
                    ($0.sample.metric.rawValue, SampleKey($0.sample)) < (
                        $1.sample.metric.rawValue, SampleKey($1.sample)
                    )
                }
        }
    }
    /// What is kept of a device.
    package func record(of device: DeviceID) -> DeviceRecord {
        state.withLock { $0.devices[device]?.record ?? DeviceRecord() }
    }
    /// What is kept of a device's days.
    package func days(of device: DeviceID) -> [MetricDay: DayRecord] {
        state.withLock { $0.devices[device]?.days ?? [:] }
    }
    /// What the device itself said of its days.
    package func deviceDays(of device: DeviceID) -> [MetricDay: DailySummary] {
        state.withLock { $0.devices[device]?.deviceDays ?? [:] }
    }

    /// Does something in one transaction, or nothing. Its facts are told to who waits for them before the next one's.
    func transaction<Result: Sendable>(
        _ operation: Operation, _ body: (inout State) -> Result
    ) throws(StoreError) -> Result {
        let outcome = state.withLock { state -> Swift.Result<Result, StoreError> in
            if let error = state.failure?(operation) { return .failure(error) }
            let count = state.facts.count
            let result = body(&state)
            if state.facts.count > count { committed(Array(state.facts[count...])) }
            return .success(result)
        }
        return try outcome.get()
    }
}

extension InMemoryStore.State {
    mutating func append(_ content: Fact.Content, to lane: Lane, of device: DeviceID) {
        facts.append(Fact(sequence: Int64(facts.count) + 1, lane: lane, device: device, content: content))
    }
}
