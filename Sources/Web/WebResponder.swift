import Concurrency
import GatewayKit
import HTTPTypes
import HummingbirdCore
import Listening
import NIOCore
import Vitals

/// Answers the requests of one opening of the listener.
struct WebResponder: Sendable {
    let settings: WebServer.Settings
    let connections: WebConnections
    /// The pages at the time of a request.
    let pages: @Sendable () -> Router

    /// The bytes of an answer that are sent at once, before the client has to have read the most of them.
    private static let part = 64 << 10
    /// The addresses of this machine.
    static let ownAddresses = try? TrustedProxies(["127.0.0.0/8", "::1"])

    /// Ends a connection whose request was not read to its end, or whose answer was a stream.
    private struct ConnectionEnd: Error {}

    // Concurrent, as the library's own functions are: the writer must not change its isolation.
    @concurrent func respond(
        _ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel
    ) async throws {
        connections.beginAnswer()
        defer { connections.endAnswer() }
        var reply = try await reply(to: request, over: channel)
        if request.method == .head { reply.answer.stream = nil }
        defer { reply.answer.onEnd() }
        guard let stream = reply.answer.stream else {
            return try await write(reply, to: request, writer, over: channel)
        }
        let parts = Mailbox<[UInt8], Never>(capacity: 1)
        let hasBegun = Promise<Bool>()
        // It is cancelled when the client does not take a part.
        async let written: Void = run(stream, into: parts, request.body, over: channel, hasBegun)
        guard await hasBegun.waitUncancelled() else {
            let busy = WebAnswer.busy("Too many pages with live values are open. Close one, or try again later.")
            return try await write(Reply(busy), to: request, writer, over: channel)
        }
        let time = TimeAmount(settings.answerTime)
        let body = ResponseBody { output in
            while case .elements(let waiting) = await parts.next() {
                let deadline = channel.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
                defer { deadline.cancel() }
                for part in waiting { try await output.write(ByteBuffer(bytes: part)) }
            }
            try await output.finish(nil)
        }
        try await writer.write(response: reply.answer.head(endsConnection: true), body: body)
        await written
        throw ConnectionEnd()
    }

    /// Runs what writes a stream, until it is done, its client has left or the listener ends.
    /// - Parameter hasBegun: gets `false` if there is no room for it.
    @concurrent private func run(
        _ stream: @escaping WebAnswer.Stream, into parts: Mailbox<[UInt8], Never>, _ sent: RequestBody,
        over channel: any Channel, _ hasBegun: Promise<Bool>
    ) async {
        let writing: @Sendable (RequestBody) async throws -> Void = { _ in
            try await stream { part in
                try Task.checkCancellation()
                await parts.send([part])
            }
        }
        let (opener, connections) = (settings.streamOpener, connections)
        await race(against: { try await connections.ending.wait() }) { () async -> Void in
            try? await opener {
                guard connections.beginStream(channel) else { return }
                hasBegun.fulfil(true)
                try await sent.consumeWithCancellationOnInboundClose(writing)
            }
        }
        hasBegun.fulfil(false)
        parts.finish()
    }

    /// Writes an answer whose length is known, and reads what is left of a request that was refused.
    @concurrent private func write(
        _ reply: Reply, to request: Request, _ writer: consuming ResponseWriter, over channel: any Channel
    ) async throws {
        // A client that does not read must neither keep its place nor the memory of an answer.
        let deadline = channel.eventLoop.scheduleTask(in: TimeAmount(settings.answerTime)) {
            channel.close(promise: nil)
        }
        defer { deadline.cancel() }
        let bytes = request.method == .head ? [] : reply.answer.body
        let body = ResponseBody(contentLength: bytes.count) { output in
            for start in stride(from: 0, to: bytes.count, by: Self.part) {
                try await output.write(ByteBuffer(bytes: bytes[start..<min(start + Self.part, bytes.count)]))
            }
            try await output.finish(nil)
        }
        try await writer.write(response: reply.answer.head(endsConnection: reply.unread != nil), body: body)
        guard let unread = reply.unread else { return }
        // A sender that is still sending needs a moment to read the answer.
        let (rest, ending) = (request.body, connections.ending)
        await settings.clock.withTimeout(WebConnections.drainTime) {
            do {
                if unread == .all { for try await _ in rest {} } else { try await ending.wait() }
            } catch {}
        }
        throw ConnectionEnd()
    }

    // MARK: - What a request gets

    /// - Throws: if the connection ends first.
    private func reply(to request: Request, over channel: any Channel) async throws -> Reply {
        let sender: WebConnections.Sender
        switch connections.sender(of: request.headers, channel) {
        case .success(let named): sender = named
        case .failure(let refusal): return .crowded(refusal)
        }
        let target = request.head.path ?? ""
        let path = String(target.prefix { $0 != "?" })
        if path.hasPrefix(DocumentRequests.path) {
            return try await document(of: request, from: sender, over: channel)
        }
        let isSent = request.hasContent
        // A page of a stranger, whose name leads here in the owner's browser, and a proxy that nobody named.
        guard Self.ownAddresses?.contains(sender.address) != true || Self.isLocal(request.head.authority) else {
            let text = "Use an address such as 127.0.0.1, or localhost; or name the proxy in trusted_proxies of web."
            return Reply(WebAnswer(421, text: text), unread: isSent ? .all : nil)
        }
        // Of two names none counts (RFC 9112, 3.2): the first one is no field any more.
        guard !request.headers.contains(where: { $0.name.canonicalName == "host" }) else {
            return Reply(WebAnswer(400, text: "A request names one host."), unread: isSent ? .all : nil)
        }
        let router = pages()
        let found = router.page(at: path)
        if request.method == .post, found?.hasPost(at: path) != true { return .notFound }
        guard let page = found else {
            return Reply(router.nothing, unread: isSent ? .all : nil)
        }
        var web = WebRequest(
            method: request.method.rawValue, path: path, query: String(target.dropFirst(path.count + 1)),
            headers: request.headers, address: sender.address, isEncrypted: sender.isEncrypted, base: sender.base)
        web.authority = request.head.authority ?? ""
        web.isIngress = connections.isIngress(channel)
        guard isSent else { return Reply(try await answer(of: page, to: web)) }
        guard page.maximumBody > 0 else { return whole(try await answer(of: page, to: web), unread: .all) }
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > page.maximumBody {
            return tooLarge(page, .all)
        }
        let body = await SentBody.of(
            request, upTo: page.maximumBody, within: WebConnections.bodyTime, by: settings.clock)
        switch body {
        case .complete(let bytes):
            web.body = bytes
            return whole(try await answer(of: page, to: web))
        case .tooLarge: return tooLarge(page, .rest)
        case .tooSlow:
            let limit = WebConnections.bodyTime.configurationText
            return Reply(WebAnswer(408, text: "It did not arrive within \(limit). Send it again."), unread: .rest)
        case .cut: throw ConnectionEnd()
        }
    }

    /// What a page answers, when it is its turn.
    /// - Throws: `CancellationError` if the listener ends before.
    private func answer(of page: any WebPage, to request: WebRequest) async throws -> WebAnswer {
        guard page.isCostly, request.method == "GET" || request.method == "HEAD" else {
            return await page.answer(to: request)
        }
        return try await settings.turns.withCancellableLock { await page.answer(to: request) }
    }

    /// The answer to a request with which something was sent. It is no stream: that reads the request's end itself, to notice when its
    /// client leaves.
    private func whole(_ answer: WebAnswer, unread: Reply.Unread? = nil) -> Reply {
        guard answer.stream != nil else { return Reply(answer, unread: unread) }
        answer.onEnd()
        return Reply(WebAnswer(400, text: "Nothing may be sent with a request for events."), unread: unread)
    }

    private func tooLarge(_ page: any WebPage, _ unread: Reply.Unread) -> Reply {
        Reply(WebAnswer(413, text: "At most \(page.maximumBody) bytes may be sent here."), unread: unread)
    }

    /// What a posted document gets: also when the listener ends meanwhile.
    private func document(
        of request: Request, from sender: WebConnections.Sender, over channel: any Channel
    ) async throws -> Reply {
        let (documents, connections, ending) = (settings.documents, connections, connections.ending)
        let result = await race(against: { try await ending.wait() }) { () async -> Result<Reply, any Error> in
            do {
                let reply = try await documents.reply(to: request, from: sender) {
                    connections.prove(channel, of: sender.address)
                }
                return .success(reply)
            } catch { return .failure(error) }
        }
        return try result?.get() ?? .ending
    }

    /// Whether a request names this machine.
    static func isLocal(_ authority: String?) -> Bool {
        guard let authority, !authority.isEmpty else { return true }
        if ListenAddress(authority) != nil || ListenAddress("\(authority):80") != nil { return true }
        return authority.prefix { $0 != ":" }.lowercased() == "localhost"
    }
}

extension WebAnswer {
    /// The answer without its body.
    func head(endsConnection: Bool) -> HTTPResponse {
        var head = HTTPResponse(status: HTTPResponse.Status(integerLiteral: status))
        head.headerFields[.contentType] = contentType
        if stream == nil { head.headerFields[.contentLength] = "\(body.count)" }
        head.headerFields[.xContentTypeOptions] = "nosniff"
        for (name, value) in headers {
            if let name = HTTPField.Name(name) { head.headerFields.append(HTTPField(name: name, value: value)) }
        }
        if endsConnection { head.headerFields[.connection] = "close" }
        return head
    }
}
