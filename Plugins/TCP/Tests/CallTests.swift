import Concurrency
import Foundation
import GatewayKit
import GatewayTesting
import Logging
import NIOSSL
import TestSupport
import Testing
import Vitals

@testable import TCP

/// Devices that call the gateway, over real connections on loopback.
@Suite(.timeLimit(.minutes(1))) struct CallTests {
    static let unauthorized =
        #"{"error":{"code":"unauthorized","message":"There is no device of this name that may call, or its token is another one."}}"#

    @Test func `a device that calls is connected, and what it sent behind its first line is not lost`() async throws {
        try await Reception.with { reception in
            try reception.expect("phone-1", token: "s3cret")
            let caller = try await Caller(port: reception.port)
            try await caller.send(#"{"device":"phone-1","token":"s3cret","app":"0.1"}"# + "\nhello\n")
            try await reception.echo("phone-1", token: "s3cret")
            #expect(try await caller.line() == "phone-1: hello")
            #expect(try await caller.line() == nil)
        }
    }

    @Test func `an attempt waits for the call`() async throws {
        try await Reception.with { reception in
            try reception.expect("phone-1", token: "s3cret")
            async let attempt: Void = reception.echo("phone-1", token: "s3cret")
            let caller = try await Caller(port: reception.port)
            try await caller.introduce("phone-1", "s3cret")
            try await caller.send("hello\n")
            #expect(try await caller.line() == "phone-1: hello")
            try await attempt
        }
    }

    @Test func `each of many devices gets its own link`() async throws {
        try await Reception.with { reception in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<20 {
                    let (device, token) = ("phone-\(number)", "secret \(number)")
                    try reception.expect(device, token: token)
                    group.addTask { try await reception.echo(device, token: token) }
                    group.addTask {
                        let caller = try await Caller(port: reception.port, from: "127.0.0.\(2 + number)")
                        try await caller.introduce(device, token)
                        try await caller.send("I am \(number)\n")
                        #expect(try await caller.line() == "\(device): I am \(number)")
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test(arguments: [("phone-1", "wrong"), ("phone-1", ""), ("phone-2", "s3cret"), ("Phone 1", "s3cret"), ("", "")])
    func `a wrong secret and an unknown name get the same refusal`(device: String, token: String) async throws {
        try await Reception.with { reception in
            try reception.expect("phone-1", token: "s3cret")
            let caller = try await Caller(port: reception.port)
            try await caller.introduce(device, token)
            #expect(try await caller.line() == Self.unauthorized)
            #expect(try await caller.line() == nil)
        }
    }

    @Test func `a secret of one device does not open another`() async throws {
        try await Reception.with { reception in
            try reception.expect("phone-1", token: "one")
            try reception.expect("phone-2", token: "two")
            let caller = try await Caller(port: reception.port)
            try await caller.introduce("phone-1", "two")
            #expect(try await caller.line() == Self.unauthorized)
        }
    }

    @Test func `whoever guesses has to wait, and other devices of the same address do not`() async throws {
        // A slow clock, so that the wait is not over before the second try.
        try await Reception.with(clock: .scaled(by: 0.01)) { reception in
            try reception.expect("phone-1", token: "one")
            try reception.expect("phone-2", token: "two")
            for (token, code) in [("wrong", "unauthorized"), ("one", "too_many_requests")] {
                let caller = try await Caller(port: reception.port)
                try await caller.introduce("phone-1", token)
                #expect(try await caller.line()?.contains(code) == true)
            }
            let caller = try await Caller(port: reception.port)
            try await caller.introduce("phone-2", "two")
            try await caller.send("hello\n")
            try await reception.echo("phone-2", token: "two")
            #expect(try await caller.line() == "phone-2: hello")
        }
    }

    @Test func `names that the gateway knows are refused like those that it does not know`() async throws {
        try await Reception.with(clock: .scaled(by: 0.01)) { reception in
            try reception.expect("phone-1", token: "one")
            for (name, code) in [
                ("nobody", "unauthorized"), ("somebody", "unauthorized"), ("phone-1", "unauthorized"),
                ("nobody", "too_many_requests"), ("phone-1", "too_many_requests"),
            ] {
                let caller = try await Caller(port: reception.port)
                try await caller.introduce(name, "wrong")
                #expect(try await caller.line()?.contains(code) == true, "\(name)")
            }
        }
    }

    @Test(arguments: [
        "hello\n", "\n", "[]\n", #"{"device":"phone-1"}"# + "\n", #"{"device":1,"token":2}"# + "\n",
        String(repeating: "x", count: 5000), "GET / HTTP/1.1\r\n", "\u{16}\u{3}\u{1}\u{2}\0\n",
    ])
    func `what is no introduction is refused`(text: String) async throws {
        try await Reception.with { reception in
            let caller = try await Caller(port: reception.port)
            try await caller.send(text)
            let answer = try await caller.line()
            #expect(answer?.hasPrefix(#"{"error":{"code":"bad_request","message":"The first line must be"#) == true)
            #expect(answer?.hasSuffix(#"of at most 1024 bytes."}}"#) == true)
        }
    }

    @Test func `the newest call takes the place of a waiting one`() async throws {
        try await Reception.with { reception in
            let presence = DevicePresence()
            try reception.expect("phone-1", token: "s3cret", presence: presence)
            let first = try await Caller(port: reception.port)
            try await first.introduce("phone-1", "s3cret")
            try await presence.wait()
            let second = try await Caller(port: reception.port)
            try await second.introduce("phone-1", "s3cret")
            // It is closed when the second call has come.
            let end = try? await first.line()
            #expect((end ?? nil) == nil)
            try await second.send("hello\n")
            try await reception.echo("phone-1", token: "s3cret")
            #expect(try await second.line() == "phone-1: hello")
        }
    }

    @Test func `the newest call takes the place of the open session`() async throws {
        try await Reception.with { reception in
            let presence = DevicePresence()
            try reception.expect("phone-1", token: "s3cret", presence: presence)
            let dead = try await Caller(port: reception.port)
            try await dead.introduce("phone-1", "s3cret")
            let isOpen = Promise<Void>()
            async let session: Void = reception.await("phone-1", token: "s3cret", presence: presence) { link in
                isOpen.fulfil(())
                // Nothing comes from a dead connection, until the next call ends it.
                _ = try await link.read(atMost: 1)
            }
            try await isOpen.wait()
            try await presence.wait()
            let caller = try await Caller(port: reception.port)
            try await caller.introduce("phone-1", "s3cret")
            try? await session
            // The gateway hears of the call, so that it does not wait for its next attempt.
            try await presence.wait()
            try await caller.send("hello\n")
            try await reception.echo("phone-1", token: "s3cret")
            #expect(try await caller.line() == "phone-1: hello")
        }
    }

    @Test func `a cancelled attempt ends at once, and leaves the device expected`() async throws {
        try await Reception.with { reception in
            let attempt = Task { try await reception.echo("phone-1", token: "s3cret") }
            attempt.cancel()
            await #expect { try await attempt.value } throws: { error in
                error is CancellationError || (error as? LinkError)?.code == .cancelled
            }
            try reception.expect("phone-1", token: "s3cret")
            let caller = try await Caller(port: reception.port)
            try await caller.introduce("phone-1", "s3cret")
            try await caller.send("hello\n")
            try await reception.echo("phone-1", token: "s3cret")
            #expect(try await caller.line() == "phone-1: hello")
        }
    }

    @Test func `without the listener an attempt says so`() async throws {
        var reader = ConfigurationReader(.map(["listen": "true"]))
        let transport = TCPTransport(options: &reader)
        #expect(transport.service == TCPListener.self)
        let context = LinkContext(device: try DeviceID("phone-1").orThrow(), logger: Logger(label: "test"))
        await #expect { try await transport.withLink(context: context) { _ in } } throws: { error in
            (error as? LinkError)?.code == .unreachable
        }
    }

    @Test func `a listener at a port that is taken says so`() async throws {
        try await Reception.with { reception in
            var reader = ConfigurationReader(.map(["listen": "127.0.0.1:\(reception.port)"]))
            let second = TCPListener(options: &reader)
            let context = ServiceContext(clock: .system, logger: Logger(label: "test"))
            await #expect { try await second.withService(context: context) {} } throws: { error in
                "\(error)"
                    == "Cannot listen at 127.0.0.1:\(reception.port): another program listens there. Stop that one, or "
                    + "choose another port."
            }
        }
    }

    @Test func `a caller that says nothing is refused after ten seconds`() async throws {
        try await Reception.with(clock: .scaled(by: 100)) { reception in
            let caller = try await Caller(port: reception.port)
            let answer = try await caller.line()
            #expect(
                answer == #"{"error":{"code":"bad_request","message":"The first line did not come within 10s."}}"#)
            #expect(try await caller.line() == nil)
        }
    }

    @Test func `a call that the gateway does not take is given up after half a minute`() async throws {
        // The introduction has a limit of ten seconds, which is a second here.
        try await Reception.with(clock: .scaled(by: 10)) { reception in
            try reception.expect("phone-1", token: "s3cret")
            let caller = try await Caller(port: reception.port)
            try await caller.introduce("phone-1", "s3cret")
            #expect(try await caller.line() == nil)
        }
    }

    @Test func `of too many callers without a name the last ones are refused, and devices come in again`() async throws
    {
        try await Reception.with { reception in
            try reception.expect("phone-1", token: "s3cret")
            var strangers: [Caller] = []
            var answer: String?
            // The listener counts a caller when it takes it, which may be after the next one has connected.
            for number in 0...TCPListener.maximumStrangers {
                let source = "127.0.0.\(2 + number / TCPListener.strangersPerAddress)"
                strangers.append(try await Caller(port: reception.port, from: source))
            }
            try await withThrowingTaskGroup(of: String?.self) { group in
                for stranger in strangers { group.addTask { try await stranger.line() } }
                answer = try await group.next() ?? nil
                group.cancelAll()
                while let _ = try? await group.next() {}
            }
            #expect(answer?.contains("too_many_requests") == true)
            for stranger in strangers { await stranger.link.close() }
            // Each closed caller makes room. Until the listener has registered that, it refuses callers, and may close before
            // they have sent.
            while true {
                let caller = try await Caller(port: reception.port)
                do {
                    try await caller.introduce("phone-1", "s3cret")
                    try await caller.send("hello\n")
                } catch is LinkError {
                    continue
                }
                let link = Task { try await reception.echo("phone-1", token: "s3cret") }
                let answer = (try? await caller.line()) ?? nil
                link.cancel()
                _ = try? await link.value
                if answer == "phone-1: hello" { break }
            }
        }
    }

    @Test func `calls are encrypted with the configured certificate`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "vitals2mqtt-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let certificates = try await Certificates.make(in: folder.path)
        let tls = ConfigurationValue.map(["certificate": certificates.server, "key": certificates.serverKey])
        var client = TLSConfiguration.makeClientConfiguration()
        client.trustRoots = .file(certificates.ca)
        let context = try NIOSSLContext(configuration: client)
        try await Reception.with(["tls": tls]) { reception in
            try reception.expect("phone-1", token: "s3cret")
            let caller = try await Caller(port: reception.port, tls: context)
            try await caller.introduce("phone-1", "s3cret")
            try await caller.send("hello\n")
            try await reception.echo("phone-1", token: "s3cret")
            #expect(try await caller.line() == "phone-1: hello")
            // Without TLS there is no way in.
            let plain = try await Caller(port: reception.port)
            try await plain.introduce("phone-1", "s3cret")
            let answer = try? await plain.line()
            #expect(answer?.contains("{") != true)
        }
        // A key that the listener could not use is an error of the configuration.
        let strange = folder.appending(path: "strange.key")
        try Data("-----BEGIN STRANGE KEY-----\n".utf8).write(to: strange)
        let wrong = ConfigurationValue.map(["certificate": certificates.server, "key": strange.path])
        await #expect {
            try await Reception.with(["tls": wrong]) { _ in }
        } throws: { error in
            "\(error)".contains("has no private key in it")
        }
    }
}
