package import GatewayKit
import GatewayTesting
import Synchronization
import TestSupport
package import Vitals

/// A simulated wearable with a ground truth: it measures continuously, keeps its records until they are acknowledged as
/// durable, and is as unreliable as its seed says.
package final class Wearable: Sendable {
    /// How unreliable it is, as probabilities.
    package struct Faults: Sendable {
        var refusesConnection = 0.0
        var breaksPerMinute = 0.0
        var failsCall = 0.0
        var hangsCall = 0.0
        var repeatsPage = 0.0
        /// With each measurement: for a while every value is 0, as of a sensor without contact.
        var losesContact = 0.0
        /// With each measurement: it also keeps a record that ends before it starts, and sends it only in its history.
        var keepsNonsense = 0.0

        /// No faults.
        package init(
            refusesConnection: Double = 0, breaksPerMinute: Double = 0, failsCall: Double = 0, hangsCall: Double = 0,
            repeatsPage: Double = 0, losesContact: Double = 0, keepsNonsense: Double = 0
        ) {
            self.refusesConnection = refusesConnection
            self.breaksPerMinute = breaksPerMinute
            self.failsCall = failsCall
            self.hangsCall = hangsCall
            self.repeatsPage = repeatsPage
            self.losesContact = losesContact
            self.keepsNonsense = keepsNonsense
        }
    }

    struct State {
        var records: [Sample] = []
        var acknowledged: [Metric: Timestamp] = [:]
        var monitoring: MonitorConfiguration
        var faults: Faults
        var random: SplitMix64
        var session: WearableSession?
        var writes = 0
        var isResting = false
        /// The measurements to come without contact.
        var zeros = 0
    }

    package let id: DeviceID
    let clock: GatewayClock
    /// Whether its live samples have receipts.
    let asksForReceipts: Bool
    private let trace: Trace?
    let state: Mutex<State>

    /// - Parameter zeros: how many records of 0 it has from before, as of a sensor that had no contact for an hour.
    package init(
        id: DeviceID, clock: GatewayClock, faults: Faults, asksForReceipts: Bool, random: SplitMix64,
        zeros: Int = 0, trace: Trace? = nil
    ) {
        self.trace = trace
        self.id = id
        self.clock = clock
        self.asksForReceipts = asksForReceipts
        let monitoring = MonitorConfiguration.fixture(
            of: .heartRate, schedule: MonitorSchedule(isEnabled: true, start: 0, end: 1440, interval: 5),
            limits: [.resting: AlertLimits(isEnabled: true, lower: 40, upper: 100)])
        let first = clock.now - .seconds(10 * (zeros + 1))
        let records = (0..<zeros).map {
            Sample(metric: .heartRate, start: first + .seconds(10 * $0), reading: .value(0))
        }
        state = Mutex(State(records: records, monitoring: monitoring, faults: faults, random: random))
        if zeros > 0 { note("has \(zeros) measurements without contact") }
    }

    package static let capabilities = Capabilities([
        .heartRate: [.measure, .monitor, .scheduleTime, .scheduleInterval, .restAlert, .history],
        .bloodPressure: [.history],
    ])

    /// Every sample it has measured, but for those without contact.
    package var truth: [Sample] { state.withLock { $0.records.filter(\.isValid) } }
    /// Number of records that end before they start, by metric.
    package var nonsense: [Metric: Int] {
        state.withLock { state in
            state.records.reduce(into: [:]) { $0[$1.metric, default: 0] += $1.end < $1.start ? 1 : 0 }
        }
    }

    /// Stops measuring.
    package func rest() { state.withLock { $0.isResting = true } }

    package func setFaults(_ faults: Faults) { state.withLock { $0.faults = faults } }

    func note(_ event: @autoclosure () -> String) { trace?.note(id.text, event()) }

    func happens(_ probability: Double) -> Bool {
        probability > 0 && state.withLock { Double.random(in: 0..<1, using: &$0.random) } < probability
    }

    /// Measures until `rest` or cancellation, connected or not.
    package func run() async {
        var count = 0
        while true {
            let wait = state.withLock { Duration.milliseconds(Int.random(in: 2_000...20_000, using: &$0.random)) }
            do { try await clock.sleep(for: wait) } catch { return }
            guard !state.withLock({ $0.isResting }) else { return }
            count += 1
            let sample = measure(count)
            keepNonsense()
            let session = state.withLock { state in
                state.records.append(sample)
                return state.session
            }
            let receipts = asksForReceipts ? [SampleReceipt("\(sample.start.milliseconds)")] : []
            await session?.inbox.send([.samples([sample], receipts: receipts)])
        }
    }

    private func keepNonsense() {
        let now = clock.now
        state.withLock { state in
            guard state.faults.keepsNonsense > 0,
                Double.random(in: 0..<1, using: &state.random) < state.faults.keepsNonsense
            else { return }
            state.records.append(
                Sample(metric: .heartRate, start: now, end: now - .seconds(1), reading: .value(60)))
        }
    }

    private func measure(_ count: Int) -> Sample {
        let now = clock.now
        return state.withLock { state in
            if count % 7 == 0 {
                let systolic = Double(Int.random(in: 100...150, using: &state.random))
                return Sample(
                    metric: .bloodPressure, start: now, isUserInitiated: true,
                    reading: .bloodPressure(BloodPressure(systolic: systolic, diastolic: systolic - 40)))
            }
            if state.zeros == 0, state.faults.losesContact > 0,
                Double.random(in: 0..<1, using: &state.random) < state.faults.losesContact
            {
                state.zeros = Int.random(in: 3...150, using: &state.random)
                note("loses contact for \(state.zeros) measurements")
            }
            if state.zeros > 0 {
                state.zeros -= 1
                return Sample(metric: .heartRate, start: now, reading: .value(0))
            }
            let rate = Double(Int.random(in: 50...110, using: &state.random))
            return Sample(metric: .heartRate, start: now, reading: .value(rate))
        }
    }

    /// Opens a session, as a driver and its transport would.
    package func connect(_ body: @escaping @Sendable (any DeviceSession) async throws -> Void) async throws {
        let faults = state.withLock { $0.faults }
        try await clock.sleep(for: .milliseconds(50))
        if happens(faults.refusesConnection) {
            note("is out of reach")
            throw LinkError(.unreachable, "The wearable is out of reach.")
        }
        note("is connected")
        let session = WearableSession(self)
        state.withLock { $0.session = session }
        defer {
            state.withLock { state in if state.session === session { state.session = nil } }
            session.inbox.finish()
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await body(session) }
            group.addTask { [clock] in
                while true {
                    try await clock.sleep(for: .seconds(10))
                    if self.happens(faults.breaksPerMinute / 6) {
                        self.note("goes out of reach")
                        throw DeviceError(.disconnected, "The wearable went out of reach.")
                    }
                }
            }
            try await group.next()
        }
    }
}
