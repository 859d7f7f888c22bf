import GatewayKit
import Glibc
package import Listening
import NIOCore
import NIOPosix
import NIOSSL
import Vitals

/// Asks the listener of a gateway on this machine, for `vitals2mqtt health`.
package struct LocalClient: Sendable {
    /// How long an answer may take: longer than a part of the gateway that is not stuck.
    package static let limit: Duration = .seconds(10)
    /// The most bytes of an answer that are read. One about health has some kilobytes.
    package static let maximumAnswer = 64 << 10

    private let address: ListenAddress
    private let isEncrypted: Bool

    /// A client of the listener with these options.
    package init(_ options: ListenOptions) {
        address = options.address.reachable
        isEncrypted = options.tls != nil
    }

    /// The status and the body of the answer to `GET path`.
    /// - Throws: why there is none, as a sentence.
    package func get(_ path: String) async throws(ListenError) -> (status: Int, body: String) {
        let answer = await GatewayClock.system.withTimeout(Self.limit) { () async -> Result<String, ListenError> in
            do { return .success(try await exchange(path)) } catch {
                return .failure(ListenError("No gateway answers at \(address): \(Self.reason(error))"))
            }
        }
        guard let answer else {
            throw ListenError("The gateway at \(address) has not answered within \(Self.limit.configurationText).")
        }
        let text = try answer.get()
        let words = text.prefix { $0 != "\r\n" && $0 != "\n" }.split(separator: " ")
        guard words.first?.hasPrefix("HTTP/1.") ?? false, words.count > 1, let status = Int(words[1]),
            let end = text.firstRange(of: "\r\n\r\n")
        else {
            throw ListenError(
                "What listens at \(address) is no gateway, or it listens with TLS and this file does not.")
        }
        return (status, String(text[end.upperBound...]))
    }

    /// All that comes until the gateway closes the connection.
    private func exchange(_ path: String) async throws -> String {
        let context = try isEncrypted ? Self.context() : nil
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: address.host, port: address.port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let context {
                        let handler = try NIOSSLClientHandler(context: context, serverHostname: nil)
                        try channel.pipeline.syncOperations.addHandler(handler)
                    }
                    return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        let request = "GET \(path) HTTP/1.1\r\nHost: \(address)\r\nConnection: close\r\n\r\n"
        return try await channel.executeThenClose { inbound, outbound -> String in
            try await outbound.write(ByteBuffer(string: request))
            var answer = ""
            // The end may come as an error, after the whole answer.
            do {
                for try await part in inbound where answer.utf8.count < Self.maximumAnswer {
                    answer += String(buffer: part)
                }
            } catch { if answer.isEmpty { throw error } }
            return answer
        }
    }

    /// Why no answer came, for a person.
    private static func reason(_ error: any Error) -> String {
        let cause = (error as? NIOConnectionError)?.connectionErrors.first?.error ?? error
        guard let code = (cause as? IOError)?.errnoCode else { return "\(cause)." }
        let text = String(cString: strerror(code))
        return code == ECONNREFUSED ? "\(text). Is the gateway running?" : "\(text)."
    }

    /// The certificate is not checked: it names another address than this machine's own, and nothing secret is sent or believed.
    private static func context() throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = .none
        return try NIOSSLContext(configuration: configuration)
    }
}

extension ListenAddress {
    /// Where a program of this machine reaches it: of all addresses, loopback.
    fileprivate var reachable: ListenAddress {
        var address = self
        if host == "0.0.0.0" { address.host = "127.0.0.1" }
        if host == "::" { address.host = "::1" }
        return address
    }
}
