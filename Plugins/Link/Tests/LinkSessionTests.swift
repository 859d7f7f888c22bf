import GatewayKit
import GatewayTesting
import JSON
import Link
import Logging
import TestSupport
import Testing
import Vitals

/// How sessions begin and end.
@Suite(.timeLimit(.minutes(1))) struct LinkSessionTests {
    @Test func `introduces itself with the options of the configuration`() async throws {
        let peer = Peer()
        let driver = driver([
            ("address", .scalar("C0:FF:EE", isQuoted: true)), ("pin", .scalar("0042", isQuoted: false)),
            ("rate", .scalar("25.5", isQuoted: false)), ("count", .scalar("3", isQuoted: true)),
            ("awake", .scalar("true", isQuoted: false)), ("nothing", .null),
            ("list", .list([ConfigurationValue(.scalar("1", isQuoted: false))])),
            ("map", .map([(key: ConfigurationKey("a"), value: ConfigurationValue(.scalar("b c", isQuoted: false)))])),
        ])
        async let greeting: Void = peer.answer(
            "initialize",
            params: [
                "protocol": 1, "gateway": ["name": "vitals2mqtt", "version": "1.2.3"],
                "options": [
                    "address": "C0:FF:EE", "pin": "0042", "rate": 25.5, "count": "3", "awake": true, "nothing": nil,
                    "list": [1], "map": ["a": "b c"],
                ],
            ], with: #"{"protocol":1}"#)
        try await driver.withSession(over: .bytes(peer), context: try context(ManualClock())) { session in
            #expect(session.description == DeviceDescription(identity: .init(), capabilities: .init()))
        }
        try await greeting
    }

    @Test func `discovers who the device is and what it can do`() async throws {
        let answer = #"""
            {"protocol":1,"device":{"manufacturer":"Acme","model":"Band\n1","serial":"","firmware":null,"hardware":"b"},
            "capabilities":{"heart_rate":{"measure":true,"monitor":true,"history":true,"rest_alert":true,"dance":true},
            "stress":{"measure":false,"rest_alert":true,"summary":true},"glucose":{"measure":true},"max_history_days":7},
            "clock":{"now":1763683200123,"utc_offset_min":60},"more":1}
            """#.split(separator: "\n").joined()
        try await withLink(initialize: answer) { _, session in
            #expect(
                session.description
                    == DeviceDescription(
                        identity: DeviceIdentity(manufacturer: "Acme", model: "Band 1", hardware: "b"),
                        capabilities: Capabilities(
                            [.heartRate: [.measure, .monitor, .history, .restAlert], .stress: .summary],
                            maximumHistoryDays: 7),
                        clock: DeviceClock(now: Timestamp(milliseconds: 1_763_683_200_123), utcOffset: 60)))
        }
    }

    @Test(arguments: [
        ("{}", DeviceError.Code.failure), ("7", .failure), (#"{"protocol":2}"#, .unsupported),
        (#"{"protocol":1,"device":7}"#, .failure), (#"{"protocol":1,"device":{"model":7}}"#, .failure),
        (#"{"protocol":1,"capabilities":[]}"#, .failure), (#"{"protocol":1,"capabilities":{"sleep":true}}"#, .failure),
        (#"{"protocol":1,"capabilities":{"sleep":{"history":1}}}"#, .failure),
        (#"{"protocol":1,"capabilities":{"max_history_days":-1}}"#, .failure),
        (#"{"protocol":1,"clock":{}}"#, .failure),
        (#"{"protocol":1,"clock":{"now":1,"utc_offset_min":5000}}"#, .failure),
    ])
    func `refuses a greeting that is none`(answer: String, code: DeviceError.Code) async throws {
        let error = await #expect(throws: DeviceError.self) {
            try await withLink(initialize: answer) { _, _ in Issue.record("the session must not open") }
        }
        #expect(error?.code == code)
    }

    @Test func `refuses a link that carries no bytes`() async throws {
        let error = await #expect(throws: DeviceError.self) {
            try await driver().withSession(over: .none, context: try context(ManualClock())) { _ in }
        }
        #expect(error?.message.contains("tcp") == true)
    }

    @Test func `waits for a late greeting, and pings meanwhile`() async throws {
        let clock = ManualClock()
        let peer = Peer()
        async let session: Void = driver().withSession(over: .bytes(peer), context: try context(clock)) { session in
            #expect(session.description.identity.model == "late")
        }
        let greeting = try await peer.call("initialize")
        for _ in 0..<3 {
            #expect(try await clock.nextSleep() == clock.now.offset + DeviceTimeouts.idle)
            clock.advance(by: DeviceTimeouts.idle)
            let ping = try await peer.call("ping")
            #expect(try await clock.nextSleep() == clock.now.offset + DeviceTimeouts.ping)
            peer.send(lines: [#"{"id":\#(ping.id),"result":{}}"#])
        }
        peer.send(lines: [#"{"id":\#(greeting.id),"result":{"protocol":1,"device":{"model":"late"}}}"#])
        try await session
    }

    @Test func `gives up a device that is silent before its greeting`() async throws {
        let clock = ManualClock()
        let peer = Peer()
        let context = try context(clock)
        async let session = failure { try await driver().withSession(over: .bytes(peer), context: context) { _ in } }
        _ = try await peer.call("initialize")
        _ = try await clock.nextSleep()
        clock.advance(by: DeviceTimeouts.idle)
        _ = try await peer.call("ping")
        _ = try await clock.nextSleep()
        clock.advance(by: DeviceTimeouts.ping)
        let error = await session
        #expect(error?.code == .timeout)
    }

    @Test func `fails with the link when the device dies before its greeting`() async throws {
        let peer = Peer()
        let context = try context(ManualClock())
        async let session = failure { try await driver().withSession(over: .bytes(peer), context: context) { _ in } }
        _ = try await peer.call("initialize")
        peer.close()
        let error = await session
        #expect(error?.code == .disconnected)
    }

    @Test func `fails the calls that wait when the link breaks, and those that come later`() async throws {
        let error = await #expect(throws: DeviceError.self) {
            try await withLink { peer, session in
                async let first = failure { try await session.ping() }
                async let second = failure { try await session.monitorConfiguration(of: .stress) }
                _ = try await peer.next()
                _ = try await peer.next()
                peer.close()
                let codes = [
                    await first?.code, await second?.code, await failure { try await session.ping() }?.code,
                    await failure { try await session.nextEvents() }?.code,
                ]
                #expect(codes == [.disconnected, .disconnected, .disconnected, .disconnected])
            }
        }
        #expect(error?.code == .disconnected)
    }

    @Test func `gives what came before the end of the link, and then the end`() async throws {
        await #expect(throws: DeviceError.self) {
            try await withLink { peer, session in
                peer.send(#"{"method":"wear","params":{"worn":true}}"# + "\n" + #"{"method":"wear","#)
                peer.close()
                #expect(try await session.nextEvents() == [.wear(isWorn: true)])
                _ = try await session.nextEvents()
                Issue.record("the end must be an error")
            }
        }
    }

    @Test func `ends quietly when the device closes the link after the graceful disconnect`() async throws {
        try await withLink { peer, session in
            async let disconnect: Void = session.shutdown()
            try await peer.answer("shutdown", params: [:])
            peer.close()
            await disconnect
            #expect(try await session.nextEvents() == nil)
        }
        try await withLink { peer, session in
            async let disconnect: Void = session.shutdown()
            _ = try await peer.call("shutdown")
            peer.close()
            await disconnect
        }
    }

    @Test func `throws what the body throws, and stops reading`() async throws {
        struct BodyError: Error {}
        await #expect(throws: BodyError.self) { try await withLink { _, _ in throw BodyError() } }
    }

    @Test func `closes the link at a line that does not end`() async throws {
        let error = await #expect(throws: DeviceError.self) {
            try await withLink { peer, session in
                peer.send(#"{"method":"wear","params":{"worn":true}}"# + "\n")
                for _ in 0..<5 { peer.send(String(repeating: "x", count: 65_536)) }
                #expect(try await session.nextEvents() == [.wear(isWorn: true)])
                _ = try await session.nextEvents()
            }
        }
        #expect(error?.code == .failure)
        #expect(error?.message.contains("262144") == true)
    }

    @Test func `forgets a call whose caller was cancelled`() async throws {
        try await withLink { peer, session in
            let (late, id) = try await withThrowingTaskGroup(of: DeviceError?.self) { group in
                group.addTask { await failure { try await session.ping() } }
                let call = try await peer.call("ping")
                group.cancelAll()
                return (try await group.next() ?? nil, call.id)
            }
            #expect(late?.code == .disconnected)
            // The late answer is dropped and does not disturb the next call.
            peer.send(lines: [#"{"id":\#(id),"error":{"code":6,"message":"late"}}"#])
            async let next: Void = session.setClock(Timestamp(seconds: 1), utcOffset: 0)
            try await peer.answer("time/set")
            try await next
        }
    }

    @Test func `logs what the device says, on one line`() async throws {
        let recorder = LogRecorder()
        try await withLink(logger: recorder.logger) { peer, session in
            peer.send(lines: [
                #"{"method":"log","params":{"level":"warn","message":"first\nsecond"}}"#,
                #"{"method":"log","params":{"message":"third"}}"#, #"{"method":"wear","params":{"worn":true}}"#,
            ])
            _ = try await session.nextEvents()
        }
        let lines = recorder.entries.filter { $0.metadata["device.message"] != nil }
        #expect(lines.map(\.level) == [.warning, .info])
        #expect(lines.map { $0.metadata["device.message"] } == ["first second", "third"])
    }
}
