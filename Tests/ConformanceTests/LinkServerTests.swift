import GatewayKit
import GatewayTesting
import JSON
import TestSupport
import Testing
import Vitals

/// The lines of the device's end of Vitals Link.
@Suite struct LinkServerTests {
    private static let start = Simulation.defaultStart
    private static let description = DeviceDescription(
        identity: DeviceIdentity(model: "Script"),
        capabilities: Capabilities([.heartRate: [.measure, .history], .sleep: [.history]]))

    @Test(arguments: [
        (#"{"id":1,"method":"jump"}"#, -32_601), (#"{"id":1,"method":"history/read"}"#, -32_602),
        (#"{"id":1,"method":"history/read","params":{"metric":"heart_rate","from":"x","to":1,"limit":1}}"#, -32_602),
        (
            #"{"id":1,"method":"summary/read","params":{"metric":"sleep","from_day":"2026-01-02","to_day":"2026-01-01"}}"#,
            -32_602
        ),
        (#"{"id":1,"method":"monitor/read","params":{"metric":"mood"}}"#, 1),
        (#"{"id":1,"method":"monitor/read","params":{"metric":"steps"}}"#, 1),
        (#"{"id":1,"method":"measurement/start","params":{"metric":"heart_rate","duration_s":1}}"#, 2),
        (#"{"id":1,"method":"time/set","params":{"now":0,"utc_offset_min":0}}"#, 3),
        (#"{"id":1,"method":"measurement/stop","params":{"measurement":"m1"}}"#, 4),
        (#"{"id":1,"method":"history/acknowledge","params":{"metric":"sleep","through":1}}"#, 5),
        (#"{"id":1,"method":"ping"}"#, 6), (#"{"id":1,"method":"ping""#, -32_700), (#"{"id":1}"#, -32_600),
    ])
    func `answers what it cannot do with the protocol's code`(line: String, code: Int) throws {
        let answers = try exchange([line]) { session in
            session.behave { call in
                switch call {
                case .startMeasurement: .fail(DeviceError(.busy, "Later."))
                case .setClock: .fail(DeviceError(.invalid, "No."))
                case .stopMeasurement: .fail(DeviceError(.notWorn, "Put it on."))
                case .acknowledgeHistory: .fail(DeviceError(.lowBattery, "Charge it."))
                case .ping: .fail(DeviceError(.failure, "It broke."))
                default: .answer
                }
            }
        }
        #expect(answers.first?["error"]?["code"]?.asInt == code)
        #expect(answers.first?["id"] == (code < -32_000 && code != -32_601 && code != -32_602 ? .null : 1))
    }

    @Test func `keeps a page within a line, and the rest for the next one`() throws {
        let night = (0..<400).map { index in
            Sample(
                metric: .sleep, start: Self.start + .days(index), end: Self.start + .days(index) + .hours(8),
                reading: .sleep(
                    Sleep(
                        stages: (0..<48).map { stage in
                            let from = Self.start + .days(index) + .minutes(stage * 10)
                            return .init(.light, from: from, to: from + .minutes(10))
                        })))
        }
        let call =
            #"{"id":1,"method":"history/read","params":{"metric":"sleep","from":0,"to":4102444800000,"limit":2000}}"#
        let answers = try exchange([call]) { $0.change { $0.history[.sleep] = night } }
        let result = try #require(answers.first?["result"])
        let count = try #require(result["samples"]?.asArray?.count)
        #expect((1..<400).contains(count))
        #expect(answers.first.map { $0.bytes.count <= 262_144 } == true)
        #expect(result["next"] == .string("\(count)"))
    }

    @Test func `says nothing by itself before it is greeted, and then what it could not read, too`() throws {
        let answers = try exchange([#"{"id":1,"method":"initialize","params":{"protocol":1}}"#], count: 4) { session in
            await session.send(.wear(isWorn: true), .malformed("a torn record"))
        }
        #expect(answers[0]["result"]?["device"]?["model"] == "Script")
        #expect(answers[1]["method"] == "wear")
        #expect(answers[2]["method"] == "log")
        #expect(answers[2]["params"]?["message"] == "a torn record")
        #expect(answers[3]["method"] == "sample")
        #expect(answers[3]["params"]?["sample"] == .null)
    }

    @Test func `ends after the graceful disconnect`() throws {
        let answers = try exchange([#"{"id":"last","method":"shutdown","params":{}}"#], count: .max) { _ in }
        #expect(answers.count == 1)
        #expect(answers.first?["id"] == "last")
        #expect(answers.first?["result"] == .object([]))
    }

    /// Sends lines, and returns the first `count` replies; all of them if there are fewer.
    private func exchange(
        _ lines: [String], count: Int = 1, _ prepare: @escaping @Sendable (ScriptedSession) async -> Void
    ) throws -> [JSONValue] {
        try Simulation.run(seed: 1, deadline: .minutes(1)) { environment in
            let (gateway, device) = ScriptedByteLink.pair(clock: environment.gatewayClock)
            let session = ScriptedSession(Self.description, clock: environment.gatewayClock)
            await prepare(session)
            return try await withThrowingTaskGroup { group in
                group.addTask {
                    await LinkServer(session, over: device).run()
                    device.close()
                }
                defer { group.cancelAll() }
                try await gateway.write(Array(lines.map { $0 + "\n" }.joined().utf8))
                var received: [UInt8] = []
                while received.count(where: { $0 == UInt8(ascii: "\n") }) < count,
                    case let bytes = try await gateway.read(atMost: 65_536), !bytes.isEmpty
                { received += bytes }
                return try received.split(separator: UInt8(ascii: "\n")).map { try JSONValue(parsing: Array($0)) }
            }
        }
    }
}
