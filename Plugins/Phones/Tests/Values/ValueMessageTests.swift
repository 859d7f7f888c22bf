import GatewayKit
import JSON
import Testing
import Vitals

@testable import Phones

@Suite struct ValueMessageTests {
    private static let now = Timestamp(seconds: 1_767_225_600)

    private static func read(_ payload: String, _ values: String, isStored: Bool = false) throws -> ValueMessage {
        ValueMessage(
            Array(payload.utf8), of: try Publishers.topic(values), receivedAt: now, isStored: isStored,
            calendar: Phone.berlin)
    }

    private static func numbers(_ message: ValueMessage) -> [Double?] {
        (message.timed + message.untimed).map { $0.sample.value }
    }

    @Test(arguments: [
        ("72.5", "72.5"), (" 72.5\n", "72.5"), ("\"72.5\"", "72.5"), ("+72.5", "72.5"), ("7.25e1", "72.5"),
    ])
    func `a message can be a number, also as a text`(payload: String, value: String) throws {
        let message = try Self.read(payload, #"[{"metric":"weight"}]"#)
        #expect(Self.numbers(message) == [Double(value)])
        #expect(message.untimed.first?.sample.start == Self.now)
    }

    @Test(arguments: [
        ("weight", #"{"weight":72.5}"#), ("a.b[1].c", #"{"a":{"b":[0,{"c":"72.5"}]}}"#),
        ("a.1", #"{"a":[0,72.5]}"#), (#"["a.b"].c"#, #"{"a.b":{"c":72.5}}"#), ("[1]", "22,72.5"), ("[0]", "[72.5]"),
    ])
    func `a path leads to a number`(path: String, payload: String) throws {
        let written = JSONValue.string(path)
        let message = try Self.read(payload, #"[{"metric":"weight","path":\#(written)}]"#)
        #expect(Self.numbers(message) == [72.5])
    }

    @Test(arguments: ["", ".", "a.", ".a", "a..b", "a[", "a[x]", "a[-1]", "a[\"b]"])
    func `what is no path is none`(text: String) { #expect(ValuePath(text) == nil) }

    @Test func `a path has thirty-two names at most`() {
        let names = Array(repeating: "a", count: ValuePath.maximumDepth)
        #expect(ValuePath(names.joined(separator: ".")) != nil)
        #expect(ValuePath((names + ["a"]).joined(separator: ".")) == nil)
    }

    @Test(arguments: [
        ("weight", "lb", 160.0, 72.575), ("weight", "st", 10, 63.503), ("weight", "g", 72_500, 72.5),
        ("weight", "jin", 145, 72.5), ("temperature", "°F", 98.6, 37), ("temperature", "C", 37.2, 37.2),
        ("blood_glucose", "mmol/L", 5.5, 99.088), ("blood_oxygen", "ratio", 0.97, 97), ("blood_oxygen", "%", 97, 97),
        ("heart_rate_variability", "s", 0.042, 42), ("heart_rate", "Hz", 1.2, 72),
        ("respiratory_rate", "1/min", 14, 14),
    ])
    func `a value is converted to the unit of its metric`(
        metric: String, unit: String, value: Double, converted: Double
    ) throws {
        let message = try Self.read("\(value)", #"[{"metric":"\#(metric)","unit":"\#(unit)"}]"#)
        #expect(Self.numbers(message) == [converted])
    }

    @Test(arguments: [("kPa", 17.0, 127.51), ("mmHg", 128, 128)])
    func `a blood pressure has two numbers in one unit, and perhaps a pulse`(
        unit: String, value: Double, converted: Double
    ) throws {
        let payload = #"{"sys":\#(value),"dia":\#(value),"hr":64}"#
        let rule =
            #"[{"metric":"blood_pressure","systolic":"sys","diastolic":"dia","pulse":"hr","unit":"\#(unit)"}]"#
        let message = try Self.read(payload, rule)
        guard case .bloodPressure(let pressure) = try #require(message.untimed.first).sample.reading else {
            Issue.record("no pressure")
            return
        }
        #expect(pressure.systolic.rounded(to: 2) == converted && pressure.diastolic == pressure.systolic)
        #expect(pressure.pulse == 64)
    }

    @Test func `the message can say its unit`() throws {
        let rule = #"[{"metric":"weight","path":"weight","unit_path":"unit"}]"#
        let pounds = try Self.read(#"{"weight":160,"unit":"lb"}"#, rule)
        #expect(Self.numbers(pounds) == [72.575])
        for payload in [#"{"weight":160,"unit":"furlong"}"#, #"{"weight":160,"unit":"°C"}"#, #"{"weight":160}"#] {
            let message = try Self.read(payload, rule)
            #expect(message.problems.map(\.problem) == [.wrongUnit])
            #expect(Self.numbers(message).isEmpty)
        }
    }

    @Test(arguments: [
        (#""2026-01-05T12:00:00+01:00""#, "2026-01-05T11:00:00.000Z"), ("1767610800", "2026-01-05T11:00:00.000Z"),
        ("1767610800123", "2026-01-05T11:00:00.123Z"), (#""1767610800""#, "2026-01-05T11:00:00.000Z"),
        // Without a zone it is the gateway's: Berlin's, in winter and in summer.
        (#""2026-01-05T12:00:00""#, "2026-01-05T11:00:00.000Z"),
        (#""2026-07-05 12:00:30""#, "2026-07-05T10:00:30.000Z"),
    ])
    func `the time of measurement is what the message says`(time: String, moment: String) throws {
        let payload = #"{"weight":72.5,"at":\#(time)}"#
        for isStored in [false, true] {
            let message = try Self.read(
                payload, #"[{"metric":"weight","path":"weight","time":"at"}]"#, isStored: isStored)
            #expect(message.timed.map { $0.sample.start.description } == [moment])
            #expect(message.untimed.isEmpty)
        }
    }

    @Test(arguments: [
        ("0", false), ("75", false), ("946684800", false), (#""2000-06-01T00:00:00Z""#, false), ("978307199", false),
        ("978307200", true),
    ])
    func `a time before 2001 is that of a clock that was never set, and the value is none`(
        time: String, isTaken: Bool
    ) throws {
        let message = try Self.read(
            #"{"weight":72.5,"at":\#(time)}"#, #"[{"metric":"weight","path":"weight","time":"at"}]"#)
        #expect(message.problems.map(\.problem) == (isTaken ? [] : [.unsetClock]))
        #expect(message.timed.map(\.sample.start) == (isTaken ? [ValueMessage.earliest] : []))
    }

    @Test func `a stored message without a time is no measurement`() throws {
        for payload in ["72.5", "nan"] {
            let message = try Self.read(payload, #"[{"metric":"weight"}]"#, isStored: true)
            #expect(Self.numbers(message).isEmpty && message.problems.isEmpty)
        }
    }

    @Test(arguments: [
        (#"{"weight":"heavy"}"#, [ValueMessage.Problem.noNumber]), (#"{"weight":true}"#, [.noNumber]),
        (#"{"weight":"nan"}"#, [.noNumber]), (#"{"weight":"0x20"}"#, [.noNumber]), (#"{"weight":1000}"#, [.outOfRange]),
        (#"{"weight":0}"#, [.outOfRange]), ("{", [.noJSON]), ("on", [.noJSON]), (#"{"weight":null}"#, []),
        (#"{"battery":80}"#, []), ("[]", []), ("1", []),
    ])
    func `what is wrong is named, and what is not there is nothing`(
        payload: String, problems: [ValueMessage.Problem]
    ) throws {
        let message = try Self.read(payload, #"[{"metric":"weight","path":"weight"}]"#)
        #expect(message.problems.map(\.problem) == problems)
        #expect(Self.numbers(message).isEmpty)
    }

    @Test(arguments: [#"{"weight":70}"#, #"{"weight":70,"at":"soon"}"#, #"{"weight":70,"at":"2026-01-05"}"#])
    func `a value whose time is missing is not taken for one of now`(payload: String) throws {
        let message = try Self.read(payload, #"[{"metric":"weight","path":"weight","time":"at"}]"#)
        #expect(message.problems.map(\.problem) == [.noTime])
        #expect(Self.numbers(message).isEmpty)
    }

    @Test(arguments: [
        (#"{"weight":70,"id":"C8","stable":true,"user":1}"#, 1),
        (#"{"weight":70,"id":"C8","stable":true,"user":2}"#, 1),
        (#"{"weight":70,"id":"C8","stable":true,"user":3}"#, 0),
        (#"{"weight":70,"id":"C9","stable":true,"user":1}"#, 0),
        (#"{"weight":70,"id":"C8","stable":false,"user":1}"#, 0),
        (#"{"weight":70,"stable":true,"user":1}"#, 0),
    ])
    func `a value counts if the message has all that it must have`(payload: String, count: Int) throws {
        let rule =
            #"[{"metric":"weight","path":"weight","when":{"id":"C8","stable":"true","user":["1","2"]}}]"#
        let message = try Self.read(payload, rule)
        #expect(message.untimed.count == count && message.problems.isEmpty)
    }

    @Test(arguments: ["openmqttgateway", "tasmota", "zigbee2mqtt", "node-red"])
    func `a damaged message gives plausible values, or none`(publisher: String) throws {
        var random = SplitMix64(seed: 17)
        let rules =
            #"[{"metric":"weight","path":"weight","time":"last_seen"},{"metric":"heart_rate","path":"pulse","unit_path":"unit"},{"metric":"weight"}]"#
        let topic = try Publishers.topic(rules)
        for (_, payload) in try Publishers.messages(of: publisher) {
            for _ in 0..<500 {
                var bytes = Array(payload.utf8)
                for _ in 0...Int.random(in: 0..<4, using: &random) {
                    bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
                let message = ValueMessage(
                    Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random))), of: topic,
                    receivedAt: Self.now, isStored: Bool.random(using: &random), calendar: Phone.berlin)
                for value in message.timed + message.untimed { #expect(value.sample.isValid) }
            }
        }
    }
}
