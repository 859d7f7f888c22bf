import GatewayKit
import TestSupport
import Testing

@testable import BlueZ

/// The connection to D-Bus, over a real daemon.
@Suite(.timeLimit(.minutes(2))) struct BusTests {
    /// Answers each call with its arguments.
    private actor Echo {
        private static let loop = BusLoop(label: "bus-tests")
        nonisolated var unownedExecutor: UnownedSerialExecutor { Self.loop.asUnownedSerialExecutor() }
        private var bus: Bus?

        func open(_ address: String) throws {
            let bus = try Bus(address: address, loop: Self.loop)
            self.bus = bus
            try bus.export(below: "/echo") { [unowned bus] call in
                if call.member == "Hush" { return }
                try? bus.reply(to: call, .success(call.arguments))
            }
        }

        func call(_ member: String, _ values: [BusValue], timeout: Duration = .seconds(10)) async throws(BusError)
            -> [BusValue]
        {
            guard let bus else { throw .closed("It is not open.") }
            let name = BusValue.string("test.Echo")
            _ = try await bus.call(DBus.service, DBus.path, DBus.service, "RequestName", [name, .uint32(0)])
            return try await bus.call("test.Echo", "/echo/there", "test.Echo", member, values, timeout: timeout)
        }

        func close() { bus?.close() }
    }

    @Test func `values of every type arrive as they were sent`() async throws {
        let values: [BusValue] = [
            .byte(255), .bool(true), .bool(false), .int16(-2), .uint16(65_535), .int32(-3), .uint32(.max), .int64(.min),
            .uint64(.max), .double(36.6), .string("ä"), .path("/a/b"), .signature("a{sv}"), .bytes([]),
            .bytes([0, 255]),
            .array(of: "s", []), .array(of: "s", [.string("x"), .string("")]), .structure([.byte(1), .string("y")]),
            .variant(.variant(.bytes([7]))), .options(),
            .options(["a": .int16(1), "b": .array(of: "o", [.path("/")])]),
            .dictionary(key: "q", value: "v", [.init(key: .uint16(76), value: .variant(.bytes([2, 21])))]),
        ]
        try await withPrivateBus { address in
            let echo = Echo()
            try await echo.open(address)
            #expect(try await echo.call("Echo", values) == values)
            await echo.close()
        }
    }

    @Test func `a call without an answer ends in time, when it is cancelled, and when the bus is closed`() async throws
    {
        try await withPrivateBus { address in
            let echo = Echo()
            try await echo.open(address)
            await #expect(throws: BusError.timeout) {
                try await echo.call("Hush", [], timeout: .milliseconds(50))
            }
            let waiting = Task { try await echo.call("Hush", []) }
            waiting.cancel()
            await #expect(throws: BusError.cancelled) { try await waiting.value }
            #expect(try await echo.call("Echo", [.byte(1)]) == [.byte(1)])
            await echo.close()
            await #expect(throws: BusError.self) { try await echo.call("Echo", []) }
        }
    }

    @Test func `an error of the other side has its name and its text`() async throws {
        try await withPrivateBus { address in
            let echo = Echo()
            try await echo.open(address)
            do {
                _ = try await echo.call("Echo", [.path("no path")])
                Issue.record("It was sent.")
            } catch {
                guard case .invalid = error as? BusError else {
                    Issue.record("\(error)")
                    return
                }
            }
            await echo.close()
        }
    }

    @Test func `an address that leads nowhere is reported with the remedy`() async throws {
        var options = BlueZOptions()
        options.bus = "unix:path=/nowhere/bus"
        let radio = Radio(options, loop: BusLoop(label: "nowhere"), clock: .system, logger: LogRecorder().logger)
        do {
            try await radio.run {}
            Issue.record("It runs.")
        } catch {
            #expect("\(error)".contains("D-Bus"), "\(error)")
        }
    }
}
