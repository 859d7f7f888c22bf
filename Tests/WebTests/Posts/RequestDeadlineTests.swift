import HTTPTypes
import Listening
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

/// When a connection without a request is closed, in the time of an event loop that the test moves.
@Suite struct RequestDeadlineTests {
    private static let second = TimeAmount.seconds(1)

    private func withChannel(_ body: (EmbeddedChannel) throws -> Void) throws {
        let channel = EmbeddedChannel(handler: RequestDeadline(.seconds(10)))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        try body(channel)
        _ = try? channel.finish()
    }

    private func request(on channel: EmbeddedChannel) throws {
        let head = HTTPRequest(method: .post, scheme: "http", authority: "gateway", path: "/")
        try channel.writeInbound(HTTPRequestPart.head(head))
        try channel.writeInbound(HTTPRequestPart.end(nil))
    }

    private func response(on channel: EmbeddedChannel) throws {
        try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .ok)))
        try channel.writeOutbound(HTTPResponsePart.end(nil))
    }

    @Test func `a connection without a request is closed after ten seconds`() throws {
        try withChannel { channel in
            channel.embeddedEventLoop.advanceTime(by: .seconds(9))
            #expect(channel.isActive)
            channel.embeddedEventLoop.advanceTime(by: Self.second)
            #expect(!channel.isActive)
        }
    }

    @Test func `a request that came with another one has all of its time`() throws {
        try withChannel { channel in
            try request(on: channel)
            try request(on: channel)
            try response(on: channel)
            channel.embeddedEventLoop.advanceTime(by: .minutes(1))
            #expect(channel.isActive)
            // The ten seconds begin with the last response.
            try response(on: channel)
            channel.embeddedEventLoop.advanceTime(by: .seconds(9))
            #expect(channel.isActive)
            channel.embeddedEventLoop.advanceTime(by: Self.second)
            #expect(!channel.isActive)
        }
    }
}
