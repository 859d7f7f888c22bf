import GatewayKit
import Listening
import Logging
import TestSupport
import Testing

@testable import TCP

/// Who gets a place while another address holds many.
@Suite(.timeLimit(.minutes(2))) struct CallShareTests {
    /// Waits until so many callers without a name, and so many with one are there.
    private func wait(_ reception: Reception, strangers: Int = 0, proven: Int = 0) async {
        while !Task.isCancelled {
            let counts = reception.listener.shares.counts
            if counts.strangers == strangers, counts.proven == proven { return }
            await Task.yield()
        }
    }

    @Test func `an address that holds all that it may does not keep out a device at another one`() async throws {
        let log = LogRecorder()
        // The ten seconds of a caller are a hundred here.
        try await Reception.with(clock: .scaled(by: 0.1), logger: log.logger) { reception in
            try reception.expect("phone-1", token: "s3cret")
            var strangers: [Caller] = []
            for _ in 0..<TCPListener.strangersPerAddress {
                strangers.append(try await Caller(port: reception.port, from: "127.0.0.2"))
            }
            await wait(reception, strangers: strangers.count)
            for _ in 0..<5 {
                let refused = try await Caller(port: reception.port, from: "127.0.0.2")
                let line = try await refused.line()
                #expect(line?.contains(#""code":"too_many_requests","message":"Too many connections of this"#) == true)
                #expect(line?.contains("Try again in 10s.") == true)
                #expect(try await refused.line() == nil)
            }
            let caller = try await Caller(port: reception.port, from: "127.0.0.3")
            try await caller.introduce("phone-1", "s3cret")
            try await caller.send("hello\n")
            try await reception.echo("phone-1", token: "s3cret")
            // Two seconds, and more for a busy machine.
            let answer = try await withRealDeadline(.seconds(20)) {
                try await caller.line()
            } orThrow: {
                Unexpected(text: "no answer in time")
            }
            #expect(answer == "phone-1: hello")
            // The others hold on.
            #expect(reception.listener.shares.counts.strangers == strangers.count)
            for stranger in strangers { await stranger.link.close() }
            await wait(reception)
            #expect(reception.listener.shares.counts.addresses == 0)
        }
        let lines = log.entries.filter { $0.message == "Calls were refused." }
        #expect(lines.map { $0.metadata["count"] } == ["1", "2", "4"])
        #expect(lines.allSatisfy { $0.level == .notice && $0.metadata["caller"] == "127.0.0.2" })
    }

    @Test func `a device that has introduced itself does not count as a stranger`() async throws {
        try await Reception.with(clock: .scaled(by: 0.1)) { reception in
            var devices: [Caller] = []
            for number in 0...TCPListener.strangersPerAddress {
                try reception.expect("phone-\(number)", token: "s3cret")
                devices.append(try await Caller(port: reception.port))
                try await devices[number].introduce("phone-\(number)", "s3cret")
                await wait(reception, proven: number + 1)
            }
            for device in devices { await device.link.close() }
        }
    }
}
