import GatewayKit
import HTTPTypes
import HummingbirdCore
import Listening
import Logging
import NIOCore
import Synchronization
import Vitals

/// What devices post: `POST /v1/devices/<id>` with `Authorization: Bearer <token>`, and what apps of Nightscout do below that path
/// (`NightscoutRoute`). It decides what a request gets, and hands its document to the device's driver.
final class DocumentRequests: Sendable {
    /// Where devices post, before their id.
    static let path = "/v1/devices/"
    /// How long a document may take to arrive.
    static let bodyTime: Duration = .seconds(60)
    /// How long a sender waits for the commit: less than the apps do, the shortest of which is a minute.
    static let answerTime: Duration = .seconds(50)
    /// When a sender should try again that found no room.
    static let retryAfter: Duration = .seconds(10)
    /// The most bytes of a name that are remembered with a wrong token.
    private static let rememberedName = DeviceID.maximumLength

    let senders: ExpectedSenders
    let budget = BodyBudget()
    private let logins = LoginRateLimiter()
    private let log = RefusalLog()
    private let clock: GatewayClock
    private let logger: Logger

    init(_ senders: ExpectedSenders, clock: GatewayClock, logger: Logger) {
        self.senders = senders
        self.clock = clock
        self.logger = logger
    }

    /// Answers a request.
    /// - Parameter prove: is called once the token has turned out to be right. It returns why there is no place for the sender.
    /// - Throws: if the connection ends first.
    func reply(
        to request: Request, from connection: WebConnections.Sender, prove: () -> ConnectionShares.Refusal?
    ) async throws -> Reply {
        var reply: Reply
        let target = PostTarget(request.head)
        let logger = namedLogger(for: target)
        do throws(Refusal) {
            let sender = try sender(of: request.head, target, from: connection, uptime: clock.uptime)
            // Whoever counts the places has logged it.
            if let refusal = prove() { return .crowded(refusal) }
            if let answer = target?.route?.answer(at: clock.now) {
                return Reply(answer, unread: request.hasContent ? .all : nil)
            }
            let (mediaType, isPacked) = try Self.mediaType(of: request.headers, mayBePacked: target?.route != nil)
            let (bytes, share) = try await body(of: request, isPacked: isPacked)
            let reasons = sender.documents.reasons
            let document = Document(
                bytes, mediaType: mediaType, receivedAt: clock.now, holding: share
            ) { answer in
                if case .stored(let report) = answer { reasons.log(report, to: logger) }
            }
            reply = await answer(document, sender)
            if target?.route != nil, reply.answer.status == 200 {
                reply.answer.body = [0x5B] + reply.answer.body + [0x5D]
            }
        } catch {
            guard case .reply(let refused) = error else { throw error }
            reply = refused
        }
        if reply.answer.status >= 300 { report(reply, from: connection.address, to: logger) }
        return reply
    }

    /// Why a document is not taken.
    private enum Refusal: Error {
        case reply(Reply)
        /// The sender has left.
        case disconnected
    }

    private func sender(
        of head: HTTPRequest, _ target: PostTarget?, from connection: WebConnections.Sender, uptime: Duration
    ) throws(Refusal) -> ExpectedSenders.Sender {
        guard let target else { throw .reply(.notFound) }
        if let route = target.route {
            if let refusal = route.refusal { throw .reply(refusal) }
            guard connection.mayHaveSecret else { throw .reply(.plainSecret) }
        } else if head.method != .post {
            throw .reply(.wrongMethod)
        }
        let bearer = head.headerFields[.authorization].flatMap(Self.token).map { SecretHash.of($0) }
        // A request without a token is no login.
        guard let hash = bearer ?? (target.route == nil ? nil : NightscoutRoute.secretHash(in: head)) else {
            throw .reply(.unauthorized)
        }
        let (name, address) = (String(target.name), connection.address)
        let remembered = String(name.prefix(Self.rememberedName))
        if let wait = logins.wait(of: address, for: remembered, at: uptime) { throw .reply(.tooSoon(wait)) }
        guard let sender = senders.sender(name, token: hash, uptime: uptime) else {
            logins.failed(address, for: remembered, at: uptime)
            throw .reply(.unauthorized)
        }
        logins.succeeded(address, for: remembered, at: uptime)
        return sender
    }

    /// The token of `Bearer <token>` (RFC 6750, section 2.1).
    private static func token(_ authorization: String) -> String? {
        let parts = authorization.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        let token = parts[1].drop { $0 == " " }
        return token.isEmpty ? nil : String(token)
    }

    /// What is sent, and whether it is packed by gzip, as xDrip+ does for good once a Nightscout at this address had told it that it may.
    private static func mediaType(
        of headers: HTTPFields, mayBePacked: Bool
    ) throws(Refusal) -> (type: String, isPacked: Bool) {
        let type = headers[.contentType]?.prefix { $0 != ";" }.lowercased().filter { $0 != " " && $0 != "\t" } ?? ""
        guard type == "application/json" else { throw .reply(.wrongType) }
        let encoding = headers[.contentEncoding]?.lowercased() ?? "identity"
        let isPacked = mayBePacked && encoding == "gzip"
        guard isPacked || encoding == "identity" else { throw .reply(.encoded) }
        return (type, isPacked)
    }

    // MARK: - The document

    private func body(
        of request: Request, isPacked: Bool
    ) async throws(Refusal) -> (bytes: [UInt8], share: BodyBudget.Share) {
        let length = request.headers[.contentLength].flatMap { Int($0) }
        if let length, length > BodyBudget.maximumBody { throw .reply(.tooLarge) }
        // Without a length it may become the longest; packed, twice, with what is in it.
        let size = isPacked ? 2 * BodyBudget.maximumBody : length ?? BodyBudget.maximumBody
        guard let share = budget.reserve(size) else { throw .reply(.busy) }
        switch await SentBody.of(request, upTo: BodyBudget.maximumBody, within: Self.bodyTime, by: clock) {
        case .complete(let bytes):
            guard isPacked else {
                share.shrink(to: bytes.count)
                return (bytes, share)
            }
            switch Gzip.unpack(bytes, upTo: BodyBudget.maximumBody) {
            case .content(let content):
                share.shrink(to: content.count)
                return (content, share)
            case .tooLarge: throw .reply(Reply.tooLarge.whole)
            case .damaged: throw .reply(.damaged)
            }
        case .tooLarge: throw .reply(Reply.tooLarge.read)
        case .tooSlow: throw .reply(Reply.tooSlow.read)
        case .cut: throw .disconnected
        }
    }

    private func answer(_ document: Document, _ sender: ExpectedSenders.Sender) async -> Reply {
        sender.add(document)
        let answer = await clock.withTimeout(Self.answerTime) { try? await document.answered() }
        // No request waits for it any more. A driver may be reading it already.
        sender.documents.remove(document)
        return (answer ?? nil).map { Reply($0) } ?? .late
    }

    // MARK: - The log

    /// A log with the device that a request names, if one can have this name.
    private func namedLogger(for target: PostTarget?) -> Logger {
        var logger = logger
        let device = target.flatMap { DeviceID(String($0.name)) }
        if let device { logger[metadataKey: "device.id"] = "\(device)" }
        return logger
    }

    /// Logs a refusal, up to a number in a second.
    private func report(_ reply: Reply, from address: String, to logger: Logger) {
        guard log.mayLog(at: clock.uptime) else { return }
        logger.notice(
            "A posted document was refused.",
            metadata: ["sender": "\(address)", "status": "\(reply.answer.status)", "reason": "\(reply.summary)"])
    }
}

extension Request {
    /// Whether something is sent with it.
    var hasContent: Bool { headers[.contentLength].map { $0 != "0" } ?? (headers[.transferEncoding] != nil) }
}

/// What was sent with a request.
enum SentBody: Sendable {
    case complete([UInt8])
    case tooLarge, tooSlow
    /// The sender has left.
    case cut

    /// Reads it, once.
    /// - Parameter maximum: the most bytes of it. Its sender reads a refusal only after it has sent the rest, of which as much again is
    ///   read and not kept.
    static func of(
        _ request: Request, upTo maximum: Int, within time: Duration, by clock: GatewayClock
    ) async -> SentBody {
        let length = request.headers[.contentLength].flatMap { Int($0) }
        let stream = request.body
        return await clock.withTimeout(time) { () async -> SentBody in
            var bytes: [UInt8] = []
            // All of its share at once: an array that grows has up to twice its size beside itself. The system gives a page of it
            // when it is written.
            bytes.reserveCapacity(min(length ?? maximum, maximum))
            var received = 0
            do {
                for try await part in stream {
                    received += part.readableBytes
                    if received <= maximum {
                        bytes.append(contentsOf: part.readableBytesView)
                    } else {
                        bytes = []
                        if received > 2 * maximum { return .tooLarge }
                    }
                }
            } catch { return .cut }
            if received > maximum { return .tooLarge }
            return length.map { $0 == received } ?? true ? .complete(bytes) : .cut
        } ?? .tooSlow
    }
}

/// The memory for documents that are received, or wait for their driver.
final class BodyBudget: Sendable {
    /// The most bytes of one document.
    static let maximumBody = 20 << 20
    /// The most bytes of all documents together.
    static let maximumBytes = 64 << 20

    private let used = Mutex(0)

    /// The bytes in use.
    var bytes: Int { used.withLock { $0 } }

    /// A share of the memory, given back when its last owner is gone.
    final class Share: Sendable {
        private let bytes: Mutex<Int>
        private let budget: BodyBudget

        fileprivate init(_ bytes: Int, of budget: BodyBudget) {
            self.bytes = Mutex(bytes)
            self.budget = budget
        }

        deinit { shrink(to: 0) }

        /// Gives back what is more than `size` bytes.
        func shrink(to size: Int) {
            let excess = bytes.withLock { bytes in
                defer { bytes = min(bytes, size) }
                return max(bytes - size, 0)
            }
            budget.used.withLock { $0 -= excess }
        }
    }

    /// Reserves memory; `nil` if there is not enough.
    func reserve(_ bytes: Int) -> Share? {
        let isReserved = used.withLock { used in
            guard used + bytes <= Self.maximumBytes else { return false }
            used += bytes
            return true
        }
        return isReserved ? Share(bytes, of: self) : nil
    }
}
