import Concurrency
package import GatewayKit
import JSON
import Synchronization

/// The device's end of Vitals Link: serves any `DeviceSession` over a byte stream, so that the driver `link` can reach
/// a test's device over every transport.
///
/// It implements `Plugins/Link/Protocol.md` independently and shares only JSON with the driver, since tests cannot find
/// a misunderstanding that both ends share. The code prefers simplicity and is not for production.
package final class LinkServer: Sendable {
    /// The version of Vitals Link that it speaks.
    static let version = 1
    /// How many bytes to read at once.
    static let readLimit = 65_536

    let session: any DeviceSession
    let stream: any ByteLink
    private let waiting = Mutex((last: 0, receipts: [Int: SampleReceipt]()))

    /// Creates a server of `session` for one link. The session's owner ends it, not the server.
    package init(_ session: any DeviceSession, over stream: any ByteLink) {
        self.session = session
        self.stream = stream
    }

    /// Serves until the gateway disconnects gracefully or closes the link, the session's events end, or the task is cancelled.
    /// The link's owner then closes the link.
    package func run() async {
        let greeting = Promise<Void>()
        await withTaskGroup { group in
            group.addTask { await self.receive { greeting.fulfil(()) } }
            group.addTask {
                // A device sends no events before it is greeted.
                do { try await greeting.wait() } catch { return }
                await self.sendEvents()
            }
            await group.next()
            group.cancelAll()
        }
    }

    /// Reads lines and performs their calls. Calls are answered on completion, in any order.
    private func receive(greeted: @escaping @Sendable () -> Void) async {
        await withDiscardingTaskGroup { calls in
            var rest: [UInt8] = []
            while let bytes = try? await stream.read(atMost: Self.readLimit), !bytes.isEmpty {
                rest += bytes
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    let line = Array(rest[..<end])
                    rest.removeSubrange(...end)
                    switch LinkMessage(line) {
                    case .call("shutdown", _, let id):
                        await session.shutdown()
                        await answer(id, .success(LinkCall.nothing))
                        return calls.cancelAll()
                    case .call(let method, let params, let id):
                        calls.addTask {
                            await self.answer(id, await LinkCall(self.session, params).result(of: method))
                            if method == "initialize" { greeted() }
                        }
                    case .answer(let id, let refusal): await settle(id, refusal)
                    case .unusable(let failure): await answer(.null, .failure(failure))
                    }
                }
            }
            calls.cancelAll()
        }
    }

    /// Answers a call; a notification has no id and gets no answer.
    private func answer(_ id: JSONValue?, _ result: Result<[UInt8], LinkFailure>) async {
        guard let id else { return }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("jsonrpc", "2.0")
        writer.member("id", id)
        switch result {
        case .success(let bytes):
            writer.key("result")
            writer.raw(bytes: bytes)
        case .failure(let failure):
            writer.member("error") { error in
                error.member("code", failure.code)
                error.member("message", failure.message)
            }
        }
        writer.endObject()
        writer.newline()
        await write(writer.bytes)
    }

    /// Passes the gateway's answer about a sample to the device.
    private func settle(_ id: Int?, _ refusal: LinkFailure?) async {
        guard let id, let receipt = waiting.withLock({ $0.receipts.removeValue(forKey: id) }) else { return }
        try? await session.settle([SettledReceipt(receipt, refusal?.error)])
    }

    private func sendEvents() async {
        while let events = try? await session.nextEvents() {
            var writer = JSONWriter()
            for event in events { writer.linkNotifications(of: event) { self.request(for: $0) } }
            await write(writer.bytes)
        }
    }

    /// The id of the request for a receipt.
    private func request(for receipt: SampleReceipt) -> Int {
        waiting.withLock { waiting in
            waiting.last += 1
            waiting.receipts[waiting.last] = receipt
            return waiting.last
        }
    }

    /// Writes lines. A failure means that the link has ended, which `receive` also sees.
    private func write(_ bytes: [UInt8]) async { try? await stream.write(bytes) }
}

/// One line from the gateway.
enum LinkMessage {
    case call(String, JSONValue, id: JSONValue?)
    /// An answer to one of our requests, with the reason if it was refused.
    case answer(Int?, refusal: LinkFailure?)
    case unusable(LinkFailure)

    init(_ line: [UInt8]) {
        guard let message = try? JSONValue(parsing: line) else {
            self = .unusable(.parseError)
            return
        }
        if let method = message["method"]?.asString {
            self = .call(method, message["params"] ?? .object([]), id: message["id"])
        } else if let error = message["error"], !error.isNull {
            self = .answer(
                message["id"]?.asInt,
                refusal: LinkFailure(error["code"]?.asInt ?? 0, error["message"]?.asString ?? ""))
        } else if message["result"] != nil {
            self = .answer(message["id"]?.asInt, refusal: nil)
        } else {
            self = .unusable(.invalidRequest)
        }
    }
}
