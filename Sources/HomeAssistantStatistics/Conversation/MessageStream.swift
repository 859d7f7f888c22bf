/// Messages to and from Home Assistant, each a text of JSON.
package protocol MessageStream: Sendable {
    /// Sends a message.
    /// - Throws: `HomeAssistantError.offline` if the connection has ended.
    func send(_ message: [UInt8]) async throws
    /// The next message.
    /// - Throws: `HomeAssistantError.offline` if the connection has ended.
    func receive() async throws -> [UInt8]
}
