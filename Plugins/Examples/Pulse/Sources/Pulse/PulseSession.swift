import GatewayKit
import Synchronization
import Vitals

/// A conversation with a strap. Operations that the strap lacks keep their default, which throws `unsupported`.
final class PulseSession: DeviceSession {
    /// The longest line, in bytes. No strap sends a longer one.
    static let longestLine = 64
    /// The most records of an answer: the capacity of the strap's memory.
    static let longestAnswer = 500

    let description: DeviceDescription
    private let inbox = EventInbox()
    /// At most one for each call that is open, of which the gateway has few.
    private let requests = AsyncStream.makeStream(of: [UInt8].self)
    private let answers = Mutex(Answers())

    /// The requests that await an answer, each with the stream that receives its records.
    private struct Answers {
        typealias Records = AsyncThrowingStream<Sample, any Error>.Continuation
        var lastRequest = 0
        var open: [Int: Records] = [:]
        var end: DeviceError?
    }

    init(model: String) {
        description = DeviceDescription(
            identity: DeviceIdentity(model: model), capabilities: Capabilities([.heartRate: [.history]]))
    }

    func nextEvents() async throws(DeviceError) -> [DeviceEvent]? { try await inbox.next() }

    /// Asks for a page: `R 5 1763683200 1763686800 500`. A page is named by the second at which it begins.
    func history(_ request: HistoryRequest) async throws(DeviceError) -> HistoryPage {
        guard request.metric == .heartRate else { throw .unsupported("a history of \(request.metric.rawValue)") }
        let from = request.page.flatMap { Int64($0) } ?? Self.second(notBefore: request.from)
        let limit = min(request.limit, Self.longestAnswer)
        let (records, answer) = AsyncThrowingStream.makeStream(of: Sample.self)
        let number = try open(answer)
        defer { close(number) }
        requests.continuation.yield(
            Array("R \(number) \(from) \(Self.second(notBefore: request.to)) \(limit)\n".utf8))
        var samples: [Sample] = []
        do {
            for try await sample in records { samples.append(sample) }
        } catch {
            throw error as? DeviceError ?? DeviceError(.failure, "\(error)")
        }
        // A cancelled task sees the end of the stream, and not of the answer.
        if Task.isCancelled { throw DeviceError(.disconnected, "The gateway no longer waits for the strap.") }
        let isFull = samples.count >= limit
        return HistoryPage(samples: samples, next: isFull ? samples.last.map { Self.page(after: $0) } : nil)
    }

    /// Reads until the link ends, which is an error that `nextEvents` throws. `send` on the inbox waits while the gateway is
    /// busy, so nothing more is read then, and the stream's own flow control holds the strap back.
    func receive(from stream: any ByteLink, clock: GatewayClock) async {
        do {
            var waiting: [UInt8] = []
            while true {
                let bytes = try await stream.read(atMost: 4096)
                guard !bytes.isEmpty else { throw DeviceError(.disconnected, "The strap closed the link.") }
                waiting += bytes
                while let end = waiting.firstIndex(of: UInt8(ascii: "\n")) {
                    let line = PulseLine(String(decoding: waiting[..<end], as: UTF8.self))
                    waiting.removeSubrange(...end)
                    await handle(line, at: clock.now)
                }
                guard waiting.count <= Self.longestLine else {
                    throw DeviceError(.failure, "The strap sent a line of more than \(Self.longestLine) bytes.")
                }
            }
        } catch {
            end(error as? DeviceError ?? DeviceError(.disconnected, "The link broke: \(error)"))
        }
    }

    /// Writes the requests of the calls. Only this task writes, so a cancelled call leaves no half-written line.
    func send(to stream: any ByteLink) async {
        for await request in requests.stream {
            do { try await stream.write(request) } catch { return end(DeviceError(.disconnected, error.message)) }
        }
    }

    private func handle(_ line: PulseLine, at now: Timestamp) async {
        switch line {
        case .rate(let rate):
            let sample = Sample(metric: .heartRate, start: now, reading: .value(rate))
            await inbox.send([.samples([sample], receipts: [])])
        case .battery(let percent): await inbox.send([.battery(percent: percent, isCharging: nil)])
        case .record(let request, let sample): answers.withLock { $0.open[request] }?.yield(sample)
        case .end(let request): close(request)
        case .malformed(let text): await inbox.send([.malformed(text)])
        }
    }

    /// Fails the open calls and all later ones, and ends the events.
    private func end(_ error: DeviceError) {
        let open = answers.withLock { answers in
            if answers.end == nil { answers.end = error }
            defer { answers.open = [:] }
            return answers.open.values
        }
        for answer in open { answer.finish(throwing: error) }
        inbox.finish(error)
    }

    private func open(_ answer: Answers.Records) throws(DeviceError) -> Int {
        let (number, end) = answers.withLock { answers in
            answers.lastRequest += 1
            if answers.end == nil { answers.open[answers.lastRequest] = answer }
            return (answers.lastRequest, answers.end)
        }
        if let end { throw end }
        return number
    }

    private func close(_ request: Int) { answers.withLock { $0.open.removeValue(forKey: request) }?.finish() }

    /// The first whole second at or after a moment: the strap counts seconds.
    private static func second(notBefore moment: Timestamp) -> Int64 {
        let (seconds, rest) = moment.milliseconds.quotientAndRemainder(dividingBy: 1000)
        return rest > 0 ? seconds + 1 : seconds
    }

    private static func page(after sample: Sample) -> String { "\(sample.start.milliseconds / 1000 + 1)" }
}

/// A line that a strap sends.
enum PulseLine: Hashable {
    /// `72`: a heart rate in bpm, just measured.
    case rate(Double)
    /// `B 81`: the battery in per cent.
    case battery(Double)
    /// `H 5 1763683200 61`: a record that answers request 5, with its time in seconds since 1970.
    case record(request: Int, Sample)
    /// `E 5`: the answer to request 5 is complete.
    case end(request: Int)
    /// A line that is none of these.
    case malformed(String)

    init(_ text: String) {
        let words = text.split(separator: " ").map(String.init)
        let numbers = words.dropFirst().compactMap { Int($0) }
        switch (words.first, words.count, numbers.count) {
        case ("B", 2, 1) where (0...100).contains(numbers[0]): self = .battery(Double(numbers[0]))
        case ("H", 4, 3):
            let start = Timestamp(seconds: Int64(numbers[1]))
            // The gateway refuses a rate that nobody has, with its time.
            let sample = Sample(metric: .heartRate, start: start, reading: .value(Double(numbers[2])))
            self = SampleLimits.moments.contains(start) ? .record(request: numbers[0], sample) : .malformed(text)
        case ("E", 2, 1): self = .end(request: numbers[0])
        case (let word?, 1, _): self = Int(word).map { .rate(Double($0)) } ?? .malformed(text)
        default: self = .malformed(text)
        }
    }
}
