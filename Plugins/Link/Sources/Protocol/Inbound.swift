import GatewayKit
import JSON
import Logging
import Vitals

/// Turns the lines of one read into work: events for the gateway, answers for callers, replies to the device, lines for
/// the log. It performs none of it.
///
/// Consecutive samples become one event, which the gateway stores in one transaction. Such an event has either no
/// receipts or one for each sample.
struct Inbound {
    /// The most events of one handing over. A read may have 32,768 lines of one letter, each of which is an event.
    static let maximumEvents = 1_024

    /// Events for the gateway, in the order of arrival.
    private(set) var events: [DeviceEvent] = []
    /// Answers to our calls.
    private(set) var answers: [(id: Int64, answer: PendingCalls.Answer)] = []
    /// Replies to write at once. `settle` answers requests with valid samples later.
    private(set) var replies = Replies()
    /// Messages that the device wants logged.
    private(set) var logs: [(level: Logger.Level, message: String)] = []

    /// Whether what was taken has to be performed before more is taken.
    var isFull: Bool { events.count >= Self.maximumEvents }

    private var samples: [Sample] = []
    private var receipts: [SampleReceipt] = []

    /// Takes one line of `bytes`.
    mutating func receive(_ line: Range<Int>, of bytes: [UInt8]) {
        var reader = JSONReader(bytes, range: line)
        let envelope: Envelope
        do {
            envelope = try Envelope(from: &reader)
        } catch {
            let reason = Malformed(error).sentence(lineStart: line.lowerBound)
            return add(.malformed("A line is not what Vitals Link wants: \(reason)"))
        }
        switch envelope {
        case .call(let method?, let params, let id):
            do throws(Malformed) {
                guard let params else { throw Malformed("params are missing") }
                try receive(method, JSONReader(bytes, range: params), id)
            } catch {
                let reason = error.sentence(lineStart: line.lowerBound)
                if let id { replies.refuse(id, .invalid, reason) }
                let problem = "The parameters of \(method.rawValue) are not what Vitals Link wants: \(reason)"
                let sample = params.flatMap { UnreadableSample(method, JSONReader(bytes, range: $0), problem) }
                add(sample.map { .unreadable($0) } ?? .malformed(problem))
            }
        case .call(nil, _, let id?): replies.refuse(id, .methodNotFound, "There is no such method.")
        case .call(nil, _, nil): break
        case .answer(to: let id?, let answer): answers.append((id, answer.map { Array(bytes[$0]) }))
        case .answer(to: nil, _): break
        }
    }

    /// Turns the samples collected so far into an event.
    mutating func flush() {
        guard !samples.isEmpty else { return }
        events.append(.samples(samples, receipts: receipts))
        samples = []
        receipts = []
    }

    private mutating func add(_ event: DeviceEvent) {
        flush()
        events.append(event)
    }

    private mutating func receive(_ method: PeerMethod, _ params: JSONReader, _ id: LinkToken?) throws(Malformed) {
        var params = params
        guard method != .sample else {
            let sample = try Sample(inParams: &params)
            if (id == nil) != receipts.isEmpty { flush() }
            samples.append(sample)
            if let id { receipts.append(SampleReceipt(id.text)) }
            return
        }
        switch try PeerCall(method, &params) {
        case .event(let event): add(event)
        case .log(let level, let message): logs.append((level, message))
        }
        if let id { replies.accept(id) }
    }
}
