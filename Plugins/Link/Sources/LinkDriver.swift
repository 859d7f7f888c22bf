public import GatewayKit
import JSON
import Vitals

/// Speaks Vitals Link, version 1: JSON-RPC 2.0, one object per line, over a stream of bytes.
public struct LinkDriver: DeviceDriver {
    /// `driver: link`.
    public static let name = "link"
    /// A stream of bytes.
    public static let link = LinkKind.bytes

    /// The `options` of `initialize`: the keys exactly as in the configuration.
    let options: JSONValue

    /// Accepts any keys: only the device interprets them.
    public init(options: inout ConfigurationReader) {
        var members: [JSONValue.Member] = []
        for key in options.keys {
            members.append(.init(key, options.value(key).map { JSONValue($0) } ?? .null))
        }
        options.describe("<any>", "value", about: "Passed to the device, which alone interprets it.")
        self.options = .object(members)
    }

    /// Reads from the link continuously, waits for the device's answer to `initialize`, and runs `body`.
    ///
    /// Whichever ends first ends the other: a broken link fails the waiting calls and cancels `body`; the return of
    /// `body` cancels the reading. After `shutdown` the device may close the link without failing the session.
    public func withSession(
        over link: Link, context: SessionContext, _ body: @Sendable (any DeviceSession) async throws -> Void
    ) async throws {
        guard case .bytes(let stream) = link else {
            throw DeviceError(.failure, "The driver link needs a transport that carries bytes, such as tcp or exec.")
        }
        let connection = LinkConnection(stream, context: context)
        // To the compiler, a child's closure may outlive this call; the task group ensures that it does not.
        let error: (any Error)? = await withoutActuallyEscaping(body) { body in
            await withTaskGroup(of: Ending.self) { group in
                group.addTask { .link(await connection.run()) }
                group.addTask {
                    do {
                        let description = try await connection.initialize(options: options)
                        try await body(LinkSession(connection, description: description))
                        return .body(nil)
                    } catch {
                        return .body(error)
                    }
                }
                while let ending = await group.next() {
                    // The device closed the link after `shutdown`: `body` ends by itself.
                    if case .link(nil) = ending { continue }
                    group.cancelAll()
                    await group.waitForAll()
                    switch ending {
                    case .body(let error): return error
                    case .link(let error): return error
                    }
                }
                return nil
            }
        }
        if let error { throw error }
    }

    private enum Ending: Sendable {
        case link(DeviceError?)
        case body((any Error)?)
    }
}

extension JSONValue {
    /// Converts a value of the configuration file. Plain words that are JSON numbers, `true` or `false` become those;
    /// all other words and everything in quotes become strings.
    init(_ value: ConfigurationValue) {
        switch value.content {
        case .null: self = .null
        case .list(let values): self = .array(values.map { JSONValue($0) })
        case .map(let members): self = .object(members.map { Member($0.key.text, JSONValue($0.value)) })
        case .scalar(let text, isQuoted: true): self = .string(text)
        case .scalar(let text, isQuoted: false):
            switch try? JSONValue(parsing: Array(text.utf8)) {
            case .number(let number)?: self = .number(number)
            case .bool(let flag)?: self = .bool(flag)
            default: self = .string(text)
            }
        }
    }
}
