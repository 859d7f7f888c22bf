import Concurrency
import GatewayKit
import Vitals

/// Reads the records of a device's memory, one transfer at a time (Record Access Control Point).
///
/// A transfer runs in its own task: a task that waits for it may be cancelled, and the device still sends to the end. Those who ask
/// while it runs share the next one.
actor RecordReader {
    /// The pause after which a device that sends neither records nor an answer has given up.
    static let timeout: Duration = .seconds(30)

    private typealias Outcome = Promise<Result<Void, DeviceError>>

    private let link: any GATTLink
    private let control: GATTCharacteristic
    private let clock: GatewayClock
    private var collector: any RecordCollector
    private var history = RecordHistory()
    private let work = Signal()
    private var wanted: Outcome?
    private var running: Outcome?
    /// The answer that the running transfer waits for.
    private var answer: Promise<RecordAccess.Response>?
    /// Values and answers of the running transfer.
    private var arrivals = 0
    private var end: DeviceError?

    init(_ link: any GATTLink, control: GATTCharacteristic, _ collector: any RecordCollector, clock: GatewayClock) {
        self.link = link
        self.control = control
        self.collector = collector
        self.clock = clock
    }

    /// A page of what the device has. The first page reads what is new.
    func page(_ request: HistoryRequest) async throws(DeviceError) -> HistoryPage {
        if request.page == nil { try await refresh() }
        return history.page(request)
    }

    /// Takes a value of a characteristic with records or answers. Returns `false` for a record that no transfer has asked for.
    func receive(_ value: GATTValue) -> Bool {
        guard running != nil else { return value.characteristic == control }
        arrivals += 1
        if value.characteristic != control {
            collector.collect(value)
        } else if let response = try? RecordAccess.Response(value.bytes) {
            answer?.fulfil(response)
        }
        return true
    }

    /// Performs transfers until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            guard let outcome = wanted else {
                await work.wait()
                continue
            }
            (running, wanted) = (outcome, nil)
            let result = await transfer()
            running = nil
            outcome.fulfil(result)
        }
    }

    /// Fails what waits and what comes: the link is over.
    func close(_ error: DeviceError) {
        guard end == nil else { return }
        end = error
        for outcome in [wanted, running] { outcome?.fulfil(.failure(error)) }
    }

    private func refresh() async throws(DeviceError) {
        if let end { throw end }
        let outcome = wanted ?? Outcome()
        wanted = outcome
        work.wake()
        let result: Result<Void, DeviceError>
        do { result = try await outcome.wait() } catch {
            throw DeviceError(.disconnected, "The gateway no longer waits for the records.")
        }
        try result.get()
    }

    private func transfer() async -> Result<Void, DeviceError> {
        do throws(DeviceError) {
            let first = try await ask(collector.begin(all: false))
            // Some meters cannot choose by number.
            let outcome =
                [.operatorNotSupported, .operandNotSupported].contains(first)
                ? try await ask(collector.begin(all: true)) : first
            guard outcome == .success || outcome == .noRecords else {
                throw DeviceError(.failure, "The device did not send its records (code \(outcome.code)).")
            }
            let (records, isWhole) = collector.endTransfer()
            history.add(records, isWhole: isWhole)
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    /// Asks for records, and waits until the device has sent them.
    private func ask(_ request: RecordAccess.Request) async throws(DeviceError) -> RecordAccess.Outcome {
        let answer = Promise<RecordAccess.Response>()
        self.answer = answer
        defer { self.answer = nil }
        do { try await link.write(request.bytes, to: control, .withResponse) } catch {
            throw DeviceError(error, "The request for records")
        }
        while true {
            let before = arrivals
            let response = await clock.withTimeout(Self.timeout) { try? await answer.wait() }
            switch response {
            case .done(request.operation, let outcome)?: return outcome
            case .some(.some): throw DeviceError(.failure, "The device answered another request than that for records.")
            case .some(.none): throw DeviceError(.disconnected, "The session is over.")
            case .none where arrivals > before: continue
            case .none:
                try? await link.write(RecordAccess.Request.abort.bytes, to: control, .withResponse)
                throw DeviceError(.timeout, "The device stopped sending its records.")
            }
        }
    }
}
