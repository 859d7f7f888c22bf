import GatewayKit
import Vitals

/// Reads the records of a device's memory, one transfer at a time (Record Access Control Point).
///
/// A transfer runs in its own task: a task that waits for it may be cancelled, and the device still sends to the end. Those who ask
/// while it runs share the next one.
actor RecordReader {
    /// The pause after which a device that sends neither records nor an answer has given up.
    static let timeout: Duration = .seconds(30)

    private let link: any GATTLink
    private let control: GATTCharacteristic
    private let queue: RequestQueue<GATTValue>
    private var collector: any RecordCollector
    private var history = RecordHistory()
    private let inbox: EventInbox
    /// The most records of a transfer that had no room.
    private var skipped = 0
    /// How often somebody asked for what is new.
    private var asked = 0
    /// How many of them the last transfer is for, and how it ended.
    private var served = 0
    private var result: Result<Void, DeviceError> = .success(())

    /// - Parameter inbox: gets the number of records that have no room.
    init(
        _ link: any GATTLink, control: GATTCharacteristic, _ collector: any RecordCollector, clock: GatewayClock,
        reporting inbox: EventInbox
    ) {
        self.inbox = inbox
        self.link = link
        self.control = control
        self.collector = collector
        queue = RequestQueue(to: "records", clock: clock, timeout: Self.timeout, attempts: 1)
    }

    /// A page of what the device has. The first page reads what is new.
    func page(_ request: HistoryRequest) async throws(DeviceError) -> HistoryPage {
        if request.page == nil {
            asked += 1
            try await queue.perform { [asked] () async throws(DeviceError) in try await self.refresh(for: asked) }
        }
        return history.page(request)
    }

    /// Takes a value of a characteristic with records or answers. Returns `false` for a record that no transfer has asked for.
    func receive(_ value: GATTValue) async -> Bool {
        await queue.receive(value) || value.characteristic == control
    }

    /// Performs transfers until the task is cancelled.
    nonisolated func run() async { await queue.run() }

    /// Fails what waits and what comes: the link is over.
    func close(_ error: DeviceError) async { await queue.close(error) }

    private func refresh(for number: Int) async throws(DeviceError) {
        if number > served {
            served = asked
            result = await transfer()
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
            await reportSkipped(collector.skipped)
            let (records, isWhole) = collector.endTransfer()
            history.add(records, isWhole: isWhole)
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    /// Each transfer of all records has the same ones again.
    private func reportSkipped(_ count: Int) async {
        guard count > skipped else { return }
        defer { skipped = count }
        let values = SkippedValues(
            reason: "too_many", what: "records", count: count - skipped, limit: RecordHistory.capacity)
        await inbox.send([.skipped(values)])
    }

    /// Asks for records, and waits until the device has sent them.
    private func ask(_ request: RecordAccess.Request) async throws(DeviceError) -> RecordAccess.Outcome {
        let (link, control) = (link, control)
        let transfer = RecordTransfer(control: control, collector: collector)
        let reply = try await queue.attempt(for: transfer, timeout: Self.timeout) { () async throws(DeviceError) in
            do throws(GATTError) { try await link.write(request.bytes, to: control, .withResponse) } catch {
                throw DeviceError(error, "The request for records")
            }
        }
        guard let reply else {
            try? await link.write(RecordAccess.Request.abort.bytes, to: control, .withResponse)
            throw DeviceError(.timeout, "The device stopped sending its records.")
        }
        collector = reply.collector
        guard case .done(request.operation, let outcome)? = reply.response else {
            throw DeviceError(.failure, "The device answered another request than that for records.")
        }
        return outcome
    }
}

/// The reply to a request for records: the records, and the answer that they are all.
private struct RecordTransfer: ReplyCollector {
    let control: GATTCharacteristic
    var collector: any RecordCollector
    var response: RecordAccess.Response?

    mutating func collect(_ value: GATTValue) -> ReplyProgress {
        guard value.characteristic == control else {
            collector.collect(value)
            return .more
        }
        response = try? RecordAccess.Response(value.bytes)
        return response == nil ? .more : .done
    }
}
