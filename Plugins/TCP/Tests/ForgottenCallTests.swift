import GatewayKit
import TestSupport
import Testing

@testable import TCP

/// Calls of devices that the gateway no longer waits for.
@Suite(.timeLimit(.minutes(1))) struct ForgottenCallTests {
    @Test func `a device that the gateway no longer tries to connect is forgotten`() async throws {
        try await Reception.with(clock: .scaled(by: 100)) { reception in
            let attempt = Task { try await reception.echo("phone-1", token: "s3cret") }
            attempt.cancel()
            _ = try? await attempt.value
            // Ten minutes are six seconds of this clock; so this asks until they are over.
            while true {
                let caller = try await Caller(port: reception.port)
                try await caller.introduce("phone-1", "s3cret")
                if try await caller.line() == CallTests.unauthorized { break }
            }
        }
    }

    @Test func `a device that is no longer served may not call any more`() async throws {
        try await Reception.with { reception in
            let presence = DevicePresence()
            try reception.expect("phone-1", token: "s3cret", presence: presence)
            presence.end()
            let caller = try await Caller(port: reception.port)
            try await caller.introduce("phone-1", "s3cret")
            #expect(try await caller.line() == CallTests.unauthorized)
            // The end of an earlier configuration is none of the present one.
            try reception.expect("phone-1", token: "s3cret")
            presence.end()
            let other = try await Caller(port: reception.port)
            try await other.introduce("phone-1", "s3cret")
            try await other.send("hello\n")
            try await reception.echo("phone-1", token: "s3cret")
            #expect(try await other.line() == "phone-1: hello")
        }
    }
}
