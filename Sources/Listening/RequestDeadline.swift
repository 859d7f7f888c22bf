package import NIOCore
package import NIOHTTPTypes

/// Closes a connection over which no whole head of a request comes in time: at first, with the handshake of TLS, and after each
/// response. It is used on its channel's event loop only.
package final class RequestDeadline: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPRequestPart
    package typealias InboundOut = HTTPRequestPart
    package typealias OutboundIn = HTTPResponsePart
    package typealias OutboundOut = HTTPResponsePart

    private let time: TimeAmount
    private var deadline: Scheduled<Void>?
    /// Requests whose response has not ended.
    private var open = 0

    package init(_ time: TimeAmount) { self.time = time }

    package func handlerAdded(context: ChannelHandlerContext) { begin(context) }

    package func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head = unwrapInboundIn(data) {
            open += 1
            deadline?.cancel()
        }
        context.fireChannelRead(data)
    }

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) {
            open = max(0, open - 1)
            if open == 0 { begin(context) }
        }
        context.write(data, promise: promise)
    }

    private func begin(_ context: ChannelHandlerContext) {
        deadline?.cancel()
        let channel = context.channel
        deadline = context.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
    }
}
