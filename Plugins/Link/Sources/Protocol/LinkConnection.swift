import GatewayKit
import JSON
import Logging
import Synchronization
import Vitals

/// The gateway's end of the stream: writes calls and replies, reads everything that arrives.
final class LinkConnection: Sendable {
    /// How many bytes to read at once: some hundred samples, handled together.
    static let readLimit = 65_536

    let context: SessionContext
    let inbox = EventInbox()
    let calls = PendingCalls()
    private let stream: any ByteLink
    private let outbox = OutgoingLines()
    private let progress: Mutex<Progress>
    private let log = Mutex(DeviceLog())

    private struct Progress {
        /// When bytes last arrived, on the steady clock.
        var lastReceived: Duration
        var isEndExpected = false
    }

    init(_ stream: any ByteLink, context: SessionContext) {
        self.stream = stream
        self.context = context
        progress = Mutex(Progress(lastReceived: context.clock.uptime))
    }

    /// When bytes last arrived, on the steady clock.
    var lastReceived: Duration { progress.withLock { $0.lastReceived } }

    /// Marks that the device may close the link from now on.
    func expectEnd() { progress.withLock { $0.isEndExpected = true } }

    /// Writes lines to the device; they go out whole even if the caller is cancelled.
    func write(_ bytes: [UInt8]) async throws(DeviceError) { try await outbox.write(bytes) }

    /// Makes a call and waits for its answer without a limit: the caller sets one.
    /// - Throws: the device's error; `failure` for an answer that `reading` cannot read; `disconnected`.
    func call<Answer>(
        _ method: StaticString, _ params: (inout JSONWriter) -> Void,
        reading: (inout JSONReader) throws(JSONError) -> Answer
    ) async throws(DeviceError) -> Answer {
        let id = try calls.open()
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("jsonrpc", "2.0")
        writer.member("id", id)
        writer.member("method", "\(method)")
        writer.member("params", object: params)
        writer.endObject()
        writer.newline()
        do {
            try await write(writer.bytes)
        } catch {
            calls.close(id)
            throw error
        }
        let answer = try await calls.answer(to: id)
        var reader = JSONReader(answer)
        do {
            return try reading(&reader)
        } catch {
            throw DeviceError(
                .failure, "The device's answer to \(method) is not what Vitals Link wants. \(error.description)")
        }
    }

    /// Makes a call whose answer only confirms it.
    func call(_ method: StaticString, _ params: (inout JSONWriter) -> Void) async throws(DeviceError) {
        try await call(method, params) { (_) throws(JSONError) in }
    }

    /// Reads and writes until the link ends or the task is cancelled, then ends everything that waits.
    /// - Returns: why the link ended; `nil` if that was expected.
    func run() async -> DeviceError? {
        let error = await withTaskGroup { group in
            group.addTask { await self.outbox.run(self.stream) }
            defer { group.cancelAll() }
            return await readAll()
        }
        outbox.end(error)
        calls.end(error)
        report(skipped: log.withLock { $0.takeSkipped() })
        let isExpected = error.code == .disconnected && progress.withLock { $0.isEndExpected }
        inbox.finish(isExpected ? nil : error)
        return isExpected ? nil : error
    }

    private func readAll() async -> DeviceError {
        var splitter = LineSplitter()
        while !Task.isCancelled {
            do {
                let chunk = try await stream.read(atMost: Self.readLimit)
                if chunk.isEmpty { return DeviceError(.disconnected, "The device closed the link.") }
                splitter.append(chunk)
            } catch {
                return DeviceError(.disconnected, error.message)
            }
            let now = context.clock.uptime
            progress.withLock { $0.lastReceived = now }
            do {
                while try await performLines(of: &splitter) {}
                splitter.releaseLines()
            } catch {
                return error
            }
        }
        return DeviceError(.disconnected, "The gateway closed the link.")
    }

    /// Performs the next lines, and what came before a fault in one of them. Returns whether there may be more of them.
    private func performLines(of splitter: inout LineSplitter) async throws(DeviceError) -> Bool {
        var inbound = Inbound()
        var fault: DeviceError?
        do throws(DeviceError) {
            while !inbound.isFull, let line = try splitter.next() { inbound.receive(line, of: splitter.bytes) }
        } catch {
            fault = error
        }
        inbound.flush()
        try await perform(inbound)
        if let fault { throw fault }
        return inbound.isFull
    }

    /// Answers come before events, so that a caller need not also wait for room in the inbox.
    private func perform(_ inbound: Inbound) async throws(DeviceError) {
        for (id, answer) in inbound.answers { calls.complete(id, answer) }
        write(inbound)
        if !inbound.replies.isEmpty { try await write(inbound.replies.bytes) }
        if !inbound.events.isEmpty { await inbox.send(inbound.events) }
    }

    /// Logs what the device says, and what of its input was ignored, as far as it is not too much.
    private func write(_ inbound: Inbound) {
        let now = context.clock.uptime
        report(skipped: log.withLock { $0.takeSkipped(at: now) })
        for (level, message) in inbound.logs where log.withLock({ $0.admits(at: now) }) {
            context.logger.log(level: level, "The device says", metadata: ["device.message": "\(message)"])
        }
        guard context.logger.logLevel <= .debug else { return }
        for case .malformed(let reason) in inbound.events where log.withLock({ $0.admits(at: now) }) {
            context.logger.debug("Ignored what the device sent", metadata: ["link.reason": "\(reason)"])
        }
    }

    private func report(skipped: Int) {
        guard skipped > 0 else { return }
        context.logger.warning(
            "The device writes too much to the log; some of it was skipped.",
            metadata: ["link.skipped": "\(skipped)"])
    }
}

/// Limits how many messages a device may write into the gateway's log, like the standard error of a program.
struct DeviceLog {
    /// The messages of one device that are logged in a second. The others are counted.
    static let messagesPerSecond = 100

    private var second: Duration?
    private var count = 0
    private var skipped = 0

    /// Whether one more message is logged at a steady time.
    mutating func admits(at now: Duration) -> Bool {
        if second.map({ now - $0 >= .seconds(1) }) ?? true {
            second = now
            count = 0
        }
        count += 1
        if count > Self.messagesPerSecond { skipped += 1 }
        return count <= Self.messagesPerSecond
    }

    /// How many messages were skipped, once their second is over. Counts anew from then.
    mutating func takeSkipped(at now: Duration) -> Int {
        guard let second, now - second >= .seconds(1) else { return 0 }
        return takeSkipped()
    }

    /// How many messages were skipped since the last call.
    mutating func takeSkipped() -> Int {
        defer { skipped = 0 }
        return skipped
    }
}
