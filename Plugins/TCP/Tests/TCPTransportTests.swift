import Foundation
import GatewayKit
import NIOCore
import NIOPosix
import Testing

@testable import TCP

@Suite(.timeLimit(.minutes(1)))
struct TCPTransportTests {
    @Test(
        arguments: [
            (["port": "7878"], "host", "host is missing"),
            (["host": "band.local"], "", "port is missing; a whole number from 1 to 65535"),
            (["host": "band.local", "port": "0"], "port", "from 1 to 65535"),
            (["host": "band.local", "port": "65536"], "port", "from 1 to 65535"),
            (["host": "band.local", "port": "7878", "connect_timeout": "50ms"], "connect_timeout", "from 100ms to 5m"),
            (["host": "band.local", "port": "7878", "connect_timeout": "6m"], "connect_timeout", "from 100ms to 5m"),
            (["host": "band.local", "port": "7878", "tls": "true"], "tls", "There is no such key"),
        ] as [(KeyValuePairs<String, String>, String, String)])
    func `reports an error in the configuration`(
        options: KeyValuePairs<String, String>, key: String, message: String
    ) {
        var reader = ConfigurationReader(.map(options))
        _ = TCPTransport(options: &reader)
        let issues = reader.finish()
        #expect(issues.count == 1)
        #expect(issues.first?.message.contains(message) == true, "\(issues)")
        if !key.isEmpty, options.contains(where: { $0.key == key }) { #expect(issues.first?.path == key) }
    }

    @Test func `says that nothing listens at a port`() async throws {
        // A port that was free a moment ago may now be used by another test. Port 1 is never assigned.
        let port = 1
        await #expect {
            try await transport(port: port).connect()
        } throws: { error in
            let error = error as? LinkError
            return error?.code == .unreachable
                && error?.message.contains("Nothing listens at 127.0.0.1:\(port) (connection refused)") == true
        }
    }

    @Test func `says that a name cannot be resolved`() async throws {
        // `.invalid` never resolves (RFC 2606).
        await #expect {
            try await transport(host: "band.invalid", port: 7878).connect()
        } throws: { error in
            let error = error as? LinkError
            return error?.code == .unreachable
                && error?.message.contains("The name band.invalid cannot be resolved") == true
        }
    }

    @Test func `gives up after the configured time, and before it when cancelled`() async throws {
        // Once its queue is full, a listener that accepts nothing answers no further connection.
        let (listener, port) = try await fullListener()
        await #expect {
            try await transport(port: port, timeout: "200ms").connect()
        } throws: { error in
            let error = error as? LinkError
            return error?.code == .timeout && error?.message.contains("did not answer within 200ms") == true
        }
        let waiting = try transport(port: port, timeout: "5m")
        await withThrowingTaskGroup { group in
            group.addTask { _ = try await waiting.connect() }
            group.cancelAll()
            await #expect { try await group.next() } throws: { ($0 as? LinkError)?.code == .cancelled }
        }
        for channel in listener { channel.close(promise: nil) }
    }

    @Test func `names an IPv6 endpoint as URLs do`() {
        #expect(Endpoint(host: "::1", port: 7878).description == "[::1]:7878")
        #expect(Endpoint(host: "band.local", port: 7878).description == "band.local:7878")
    }

    /// A listening socket with a full queue of connections, and the connections that fill it.
    private func fullListener() async throws -> (channels: [any Channel], port: Int) {
        let group = MultiThreadedEventLoopGroup.singleton
        let listener = try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 0)
            .serverChannelOption(.autoRead, value: false)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = listener.localAddress?.port ?? 0
        var channels: [any Channel] = [listener]
        while true {
            do {
                let client = ClientBootstrap(group: group).connectTimeout(.milliseconds(100))
                channels.append(try await client.connect(host: "127.0.0.1", port: port).get())
            } catch {
                return (channels, port)
            }
        }
    }
}
