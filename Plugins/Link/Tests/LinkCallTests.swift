import GatewayKit
import JSON
import Testing
import Vitals

/// Checks what each operation of a session writes on the wire, and how it reads the answers.
@Suite(.timeLimit(.minutes(1))) struct LinkCallTests {
    private let start = Timestamp(milliseconds: 1_763_683_200_000)

    /// Runs an operation against one scripted answer.
    private func check<Result: Sendable>(
        _ method: String, params: JSONValue, answer: String = "{}",
        _ operation: @escaping @Sendable (any DeviceSession) async throws -> Result,
        _ expect: @escaping @Sendable (Result) -> Void
    ) async throws {
        try await withLink { peer, session in
            async let result = operation(session)
            try await peer.answer(method, params: params, with: answer)
            expect(try await result)
        }
    }

    @Test func `reads a page of history and skips what is no sample of the metric`() async throws {
        let request = HistoryRequest(
            metric: .heartRate, from: start, to: start + .hours(1), page: #""p 1""#, limit: 3_000)
        let answer = #"""
            {"samples":[{"metric":"heart_rate","start":1763683200000,"end":1763683260000,"value":61.5,"exercise":true},
            {"metric":"heart_rate","start":1763683260000,"value":900},{"metric":"pulse","start":1,"value":60},
            {"metric":"steps","start":1763683260000,"value":60},7,{"metric":"heart_rate","start":1763683320000,
            "value":"62"},{"metric":"heart_rate","start":1763683320000,"value":62,"kind":"resting"}],"next":{"at":7}}
            """#.split(separator: "\n").joined()
        try await check(
            "history/read",
            params: [
                "metric": "heart_rate", "from": 1_763_683_200_000, "to": 1_763_686_800_000, "page": "p 1",
                "limit": 2_000,
            ], answer: answer
        ) {
            try await $0.history(request)
        } _: { [start] page in
            #expect(page.next == #"{"at":7}"#)
            #expect(page.malformed == 4)
            #expect(
                page.samples == [
                    Sample(
                        metric: .heartRate, start: start, end: start + .minutes(1), isExercise: true,
                        reading: .value(61.5)),
                    // An impossible value: the gateway counts it.
                    Sample(metric: .heartRate, start: start + .minutes(1), reading: .value(900)),
                    Sample(metric: .heartRate, start: start + .minutes(2), kind: .resting, reading: .value(62)),
                ])
        }
    }

    @Test(arguments: [
        (#""abc""#, JSONValue.string("abc")), ("17", JSONValue.number(17)),
        (#"{"at":[1,2]}"#, JSONValue.object([.init("at", [1, 2])])), ("plain", JSONValue.string("plain")),
    ])
    func `gives a page back as the device named it`(page: String, wire: JSONValue) async throws {
        let request = HistoryRequest(metric: .steps, from: start, to: start, page: page, limit: 5)
        try await withLink { peer, session in
            async let result = session.history(request)
            let call = try await peer.call("history/read")
            #expect(call.params["page"] == wire)
            peer.send(lines: [#"{"id":\#(call.id),"result":{"samples":[]}}"#])
            #expect(try await result == HistoryPage(samples: []))
        }
    }

    @Test func `puts a page in order that is not`() async throws {
        let request = HistoryRequest(metric: .stress, from: start, to: start + .hours(1))
        let answer = #"""
            {"samples":[{"metric":"stress","start":1763683300000,"value":2},{"metric":"stress","start":1763683200000,"value":1}]}
            """#
        try await check(
            "history/read",
            params: ["metric": "stress", "from": 1_763_683_200_000, "to": 1_763_686_800_000, "limit": 2_000],
            answer: answer
        ) {
            try await $0.history(request)
        } _: {
            #expect($0.samples.map(\.value) == [1, 2])
        }
    }

    @Test func `acknowledges history, also with a device that never forgets it`() async throws {
        try await check(
            "history/acknowledge", params: ["metric": "sleep", "through": 1_763_683_200_000]
        ) { [start] in
            try await $0.acknowledgeHistory(of: .sleep, through: start)
        } _: {
        }
        try await withLink { [start] peer, session in
            async let result: Void = session.acknowledgeHistory(of: .sleep, through: start)
            try await peer.refuse("history/acknowledge", code: -32601, message: "no such method")
            try await result
        }
    }

    @Test func `starts and stops a measurement`() async throws {
        try await check(
            "measurement/start", params: ["metric": "blood_oxygen", "duration_s": 2], answer: #"{"measurement":41}"#
        ) {
            try await $0.startMeasurement(of: .bloodOxygen, duration: .milliseconds(1_500))
        } _: {
            #expect($0 == MeasurementID("41"))
        }
        try await check("measurement/stop", params: ["measurement": 41]) {
            try await $0.stopMeasurement(MeasurementID("41"))
        } _: {
        }
    }

    @Test func `sets the clock, and pings`() async throws {
        try await check("time/set", params: ["now": 1_763_683_200_000, "utc_offset_min": 60]) { [start] in
            try await $0.setClock(start, utcOffset: 60)
        } _: {
        }
        try await check("ping", params: [:]) {
            try await $0.ping()
        } _: {
        }
    }

    @Test func `takes any answer to a ping for a sign of life`() async throws {
        try await withLink { peer, session in
            async let result: Void = session.ping()
            try await peer.refuse("ping", code: -32601, message: "what?")
            try await result
        }
    }

    @Test(arguments: [
        (1, DeviceError.Code.unsupported), (2, .busy), (3, .invalid), (4, .notWorn), (5, .lowBattery), (6, .failure),
        (-32601, .unsupported), (-32602, .invalid), (-32700, .failure), (99, .failure),
    ])
    func `understands the error codes`(code: Int, expected: DeviceError.Code) async throws {
        try await withLink { peer, session in
            async let result = failure { try await session.startMeasurement(of: .heartRate, duration: .seconds(1)) }
            try await peer.refuse("measurement/start", code: code, message: #"no\nluck"#)
            let error = await result
            #expect(error?.code == expected)
            #expect(error?.message.hasSuffix("no luck") == true)
        }
    }

    @Test(arguments: [
        "null", "[]", "7", "{}", #"{"samples":7}"#,
        #"{"samples":[],"next":"\#(String(repeating: "x", count: 1_100))"}"#,
    ])
    func `says when an answer is not what it should be, and goes on`(answer: String) async throws {
        let request = HistoryRequest(metric: .stress, from: start, to: start)
        try await withLink { peer, session in
            async let result = failure { try await session.history(request) }
            try await peer.answer("history/read", with: answer)
            let error = await result
            #expect(error?.code == .failure)
            #expect(error?.message.contains("history/read") == true)
            async let next: Void = session.ping()
            try await peer.answer("ping")
            try await next
        }
    }

    @Test func `gives each of several calls its own answer, in whatever order they come`() async throws {
        try await withLink { peer, session in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...20 {
                    group.addTask {
                        let id = try await session.startMeasurement(of: .stress, duration: .seconds(number))
                        #expect(id.text == "\(number)")
                    }
                }
                var calls: [(params: JSONValue, id: Int)] = []
                for _ in 1...20 { calls.append(try await peer.call("measurement/start")) }
                // Answers with unknown ids are ignored.
                peer.send(lines: [
                    #"{"id":999,"result":{}}"#, #"{"id":"x","result":{}}"#, #"{"id":null,"error":{"code":1}}"#,
                ])
                for call in calls.reversed() {
                    let number = try #require(call.params["duration_s"]?.asInt)
                    peer.send(lines: [#"{"id":\#(call.id),"result":{"measurement":\#(number)}}"#])
                }
                try await group.waitForAll()
            }
        }
    }
}
