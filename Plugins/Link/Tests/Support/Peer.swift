import GatewayKit
import JSON
import Link
import Logging
import Synchronization
import TestSupport
import Testing
import Vitals

/// The device's end of an in-memory link: the test decides what it sends, and sees every line that the gateway writes.
final class Peer: ByteLink {
    private let toGateway = UnboundedQueue<[UInt8]>()
    private let fromGateway = UnboundedQueue<JSONValue>()
    /// The number of the gateway's writes.
    let writes = Mutex(0)

    func read(atMost limit: Int) async throws(LinkError) -> [UInt8] {
        if let bytes = await toGateway.next() { return bytes }
        if Task.isCancelled { throw LinkError(.cancelled, "The test ended.") }
        return []
    }

    func write(_ bytes: [UInt8]) async throws(LinkError) {
        writes.withLock { $0 += 1 }
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            guard let value = try? JSONValue(parsing: Array(line)) else {
                throw LinkError(.broken, "The gateway wrote what is no JSON.")
            }
            fromGateway.put(value)
        }
    }

    /// Sends text verbatim, in one piece.
    func send(_ text: String) { toGateway.put(Array(text.utf8)) }

    /// Sends lines in one piece.
    func send(lines: [String]) { send(lines.map { $0 + "\n" }.joined()) }

    func close() {
        toGateway.close()
        fromGateway.close()
    }

    /// The next line that the gateway wrote.
    func next() async throws -> JSONValue { try #require(await fromGateway.next()) }

    /// Waits for a call of a method, and returns its parameters and its id.
    func call(_ method: String) async throws -> (params: JSONValue, id: Int) {
        let line = try await next()
        #expect(line["jsonrpc"] == "2.0")
        #expect(line["method"]?.asString == method)
        return (try #require(line["params"]), try #require(line["id"]?.asInt))
    }

    /// Waits for a call of a method with these parameters, and answers it with `result`.
    func answer(_ method: String, params: JSONValue? = nil, with result: String = "{}") async throws {
        let call = try await call(method)
        if let params { #expect(call.params == params) }
        send(lines: [#"{"jsonrpc":"2.0","id":\#(call.id),"result":\#(result)}"#])
    }

    /// Waits for a call of a method, and answers it with an error.
    func refuse(_ method: String, code: Int, message: String) async throws {
        let call = try await call(method)
        send(lines: [#"{"jsonrpc":"2.0","id":\#(call.id),"error":{"code":\#(code),"message":"\#(message)"}}"#])
    }
}

/// Opens a session with a peer that answers `initialize`, and passes both to `body`.
func withLink(
    initialize answer: String = #"{"protocol":1}"#, clock: ManualClock = ManualClock(),
    logger: Logger = Logger(label: "test"), _ body: @Sendable (Peer, any DeviceSession) async throws -> Void
) async throws {
    let peer = Peer()
    async let greeting: Void = peer.answer("initialize", with: answer)
    try await driver().withSession(over: .bytes(peer), context: try context(clock, logger)) { session in
        try await body(peer, session)
    }
    try await greeting
}

/// A driver with options.
func driver(_ members: [(String, ConfigurationValue.Content)] = []) -> LinkDriver {
    let map = members.map { (key: ConfigurationKey($0), value: ConfigurationValue($1)) }
    var options = ConfigurationReader(ConfigurationValue(.map(map)))
    let driver = LinkDriver(options: &options)
    #expect(options.finish() == [])
    return driver
}

/// A session context for tests.
func context(_ clock: ManualClock, _ logger: Logger = Logger(label: "test")) throws -> SessionContext {
    SessionContext(
        device: try #require(DeviceID("band-1")), gateway: ("vitals2mqtt", "1.2.3"),
        calendar: try #require(LocalCalendar(identifier: "Europe/Berlin")), clock: clock.gatewayClock, logger: logger)
}

/// The device error that `operation` throws, `nil` if it throws none.
func failure<Result>(of operation: @Sendable () async throws -> Result) async -> DeviceError? {
    do {
        _ = try await operation()
        return nil
    } catch {
        return error as? DeviceError ?? DeviceError(.failure, "Another error: \(error)")
    }
}
