import Concurrency
import GatewayKit
import Logging
import Recordings
import Synchronization
import Vitals

/// A stream whose device answers by its recorded calls.
final class ConversationLink: ByteLink {
    private struct Waiting {
        var state: ConversationState
        /// Bytes that did not fit into a read.
        var left: [UInt8] = []
        /// Fulfilled by the next change.
        var change: Promise<Void>?
        var isClosed = false
        var logged: Set<ConversationState.UnknownCall> = []
    }
    private let waiting: Mutex<Waiting>
    private let clock: GatewayClock
    private let logger: Logger
    private let beginning: Duration

    init(_ script: CallScript, speed: Speed, clock: GatewayClock, logger: Logger) {
        self.clock = clock
        self.logger = logger
        beginning = clock.uptime
        waiting = Mutex(Waiting(state: ConversationState(script, speed: speed)))
    }

    /// The gateway has left the link.
    func close() { change { $0.isClosed = true } }

    func write(_ bytes: [UInt8]) async throws(LinkError) {
        let now = clock.uptime - beginning
        let (result, unknown) = change { waiting in
            let result = Result { () throws(LinkError) in try waiting.state.write(bytes, at: now) }
            let unknown = waiting.state.unknownCalls.subtracting(waiting.logged)
            waiting.logged.formUnion(unknown)
            return (result, unknown)
        }
        for call in unknown.sorted(by: { $0.method < $1.method }) {
            var metadata: Logger.Metadata = ["link.method": "\(call.method)"]
            if !call.differences.isEmpty { metadata["link.differs"] = "\(call.differences.joined(separator: ", "))" }
            logger.notice("The gateway makes a call that the recording does not have.", metadata: metadata)
        }
        try result.get()
    }

    func read(atMost limit: Int) async throws(LinkError) -> [UInt8] {
        while true {
            let change = Promise<Void>()
            let now = clock.uptime - beginning
            let step = waiting.withLock { waiting -> ConversationState.Step? in
                guard !waiting.isClosed else { return nil }
                if waiting.left.isEmpty {
                    let step = waiting.state.next(at: now)
                    guard case .send(let bytes) = step else {
                        waiting.change = change
                        return step
                    }
                    waiting.left = bytes
                }
                defer { waiting.left.removeFirst(min(limit, waiting.left.count)) }
                return .send(Array(waiting.left.prefix(limit)))
            }
            switch step {
            case .send(let bytes)?: return bytes
            case .end(.byDevice?)?: return []
            case .end(.broken(let error)?)?: throw error
            case .end?: throw LinkError(.ended, "The recording of this link is over.")
            case .wait(let until)?:
                _ = await clock.withTimeout(max(.zero, until - now)) { () async -> Bool in
                    (try? await change.wait()) != nil
                }
                if Task.isCancelled { throw Self.left }
            case nil: throw Self.left
            }
        }
    }

    private static let left = LinkError(.cancelled, "The gateway no longer waits for the device.")

    /// Changes the state, and wakes the tasks that wait for a change.
    private func change<Value: Sendable>(_ body: (inout Waiting) -> Value) -> Value {
        let (value, change) = waiting.withLock { waiting in
            let value = body(&waiting)
            defer { waiting.change = nil }
            return (value, waiting.change)
        }
        change?.fulfil(())
        return value
    }
}
