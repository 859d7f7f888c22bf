import GatewayKit
import JSON
import Logging
import Vitals

/// Turns the lines that were read at once into what has to be done: events for the gateway, answers for callers, replies
/// to the device, lines for the log. It does nothing itself.
///
/// Samples that follow each other become one event, which the gateway stores in one transaction. Such an event has
/// either no receipts or one for each of its samples.
struct Inbound {
    /// What the gateway is told, in the order in which it came.
    private(set) var events: [DeviceEvent] = []
    /// Answers to calls of ours.
    private(set) var answers: [(id: Int64, answer: PendingCalls.Answer)] = []
    /// What is written back at once. Requests with good samples are answered later, by `settle`.
    private(set) var replies = Replies()
    /// What the device wants to have logged.
    private(set) var logs: [(level: Logger.Level, message: String)] = []

    private var samples: [Sample] = []
    private var receipts: [SampleReceipt] = []

    /// Takes one line of `bytes`.
    mutating func take(_ line: Range<Int>, of bytes: [UInt8]) {
        var reader = JSONReader(bytes, range: line)
        let envelope: Envelope
        do {
            envelope = try Envelope(from: &reader)
        } catch {
            let place = JSONError(error.reason, at: error.offset - line.lowerBound)
            return add(.malformed("A line is not what Vitals Link wants. \(place.description)"))
        }
        switch envelope {
        case .call(.sample?, let params, let id): takeSample(JSONReader(bytes, range: params ?? 0..<0), id)
        case .call(let method?, let params, let id): takeCall(method, JSONReader(bytes, range: params ?? 0..<0), id)
        case .call(nil, _, let id?): replies.refuse(id, .methodNotFound, "There is no such method.")
        case .call(nil, _, nil): break
        case .answer(to: let id?, let answer): answers.append((id, answer.map { Array(bytes[$0]) }))
        case .answer(to: nil, _): break
        }
    }

    /// Ends the event of the samples that came last.
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

    private mutating func takeSample(_ params: JSONReader, _ id: LinkToken?) {
        var params = params
        let sample: Sample
        do {
            sample = try Sample(inParams: &params)
        } catch {
            return refuse(.sample, id, error)
        }
        if (id == nil) != receipts.isEmpty { flush() }
        samples.append(sample)
        if let id { receipts.append(SampleReceipt(id.text)) }
    }

    private mutating func takeCall(_ method: PeerMethod, _ params: JSONReader, _ id: LinkToken?) {
        var params = params
        do {
            switch try PeerCall(method, &params) {
            case .event(let event): add(event)
            case .log(let level, let message): logs.append((level, message))
            }
            if let id { replies.accept(id) }
        } catch {
            refuse(method, id, error)
        }
    }

    private mutating func refuse(_ method: PeerMethod, _ id: LinkToken?, _ error: Malformed) {
        if let id { replies.refuse(id, .invalid, error.reason) }
        add(.malformed("The parameters of \(method.rawValue) are not what Vitals Link wants: \(error.reason)"))
    }
}
