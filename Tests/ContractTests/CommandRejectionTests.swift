import Contract
import JSON
import Testing
import Vitals

@Suite struct CommandRejectionTests {
    /// Commands, and the paths of their errors.
    static let issues: [(topic: String, payload: String, paths: [String])] = [
        (
            "ring-1/command/sync", #"{"metrics":["pulse","sleep",3],"from":"today"}"#,
            ["metrics[0]", "metrics[2]", "from"]
        ),
        ("ring-1/command/sync", #"{"metrics":"sleep"}"#, ["metrics"]),
        ("ring-1/command/sync", #"{"metrics":["battery"]}"#, ["metrics[0]"]),
        ("ring-1/command/sync", #"{"from":"2026-11-20T00:00:00Z","to":"2026-11-19T00:00:00Z"}"#, ["to"]),
        ("ring-1/command/sync", #"{"from":"2026-11-20T00:00:00Z","to":"2026-11-20T00:00:00Z"}"#, ["to"]),
        ("ring-1/command/sync", #"{"to":"2026-11-21T07:32:04.121Z"}"#, ["to"]),
        ("ring-1/command/sync", #"{"from":"2026-12-01T00:00:00Z"}"#, ["from"]),
        ("ring-1/command/sync", #"{"since":"2026-12-01T00:00:00Z","metric":"sleep"}"#, ["since", "metric"]),
        ("gateway/command/scan", #"{"duration_s":61,"metric":"sleep"}"#, ["duration_s", "metric"]),
        ("gateway/command/scan", #"{"duration_s":0}"#, ["duration_s"]),
        ("ring-1/command/passkey", "", ["passkey"]),
        ("ring-1/command/passkey", #"{"passkey":"12345"}"#, ["passkey"]),
        ("ring-1/command/passkey", #"{"passkey":1000000,"device":"x"}"#, ["passkey", "device"]),
        ("ring-1/command/acknowledge", "", ["id", "by"]),
        ("ring-1/command/assign", #"{"id":"c-1","by":"anna"}"#, ["id", "person", "by"]),
        ("ring-1/command/withdraw", #"{"id":7,"person":"anna"}"#, ["id", "person"]),
        ("ring-1/command/acknowledge", #"{"id":"c-1","by":" ","person":"anna"}"#, ["id", "by", "person"]),
        ("ring-1/command/acknowledge", #"{"id":7,"by":"anna\nben"}"#, ["id", "by"]),
        ("ring-1/command/acknowledge", #"{"id":"","by":1}"#, ["id", "by"]),
        ("ring-1/command/acknowledge", #"{"id":null,"by":"anna\u2028"}"#, ["id", "by"]),
        ("ring-1/command/acknowledge", #"{"id":"48f87357-0bf7-5758-ad2e-511355013f20","by":null}"#, ["by"]),
        (
            "ring-1/command/acknowledge",
            #"{"id":"48f87357-0bf7-5758-ad2e-511355013f20","by":"\#(String(repeating: "x", count: 129))"}"#, ["by"]
        ),
        ("ring-1/command/measure", "", ["metric"]),
        ("ring-1/command/measure", #"{"metric":null}"#, ["metric"]),
        ("ring-1/command/measure", #"{"metric":"heart_rate","duration_s":4}"#, ["duration_s"]),
        ("ring-1/command/measure", #"{"metric":"heart_rate","duration_s":601}"#, ["duration_s"]),
        ("ring-1/command/measure", #"{"metric":"heart_rate","duration_s":60.5}"#, ["duration_s"]),
        (
            "ring-1/command/measure", #"{"metric":"pulse","action":"pause","duration_s":"60"}"#,
            ["action", "metric", "duration_s"]
        ),
        ("ring-1/command/fetch", #"{"metrics":["steps"]}"#, ["metrics[0]"]),
        ("ring-1/command/time", #"{"now":1}"#, ["now"]),
        ("ring-1/command/history", "", ["metric"]),
        ("ring-1/command/history", #"{"metric":"battery","sync":true}"#, ["metric"]),
        ("ring-1/command/history", #"{"metric":"sleep","limit":0,"page":"","sync":1}"#, ["sync", "limit", "page"]),
        ("ring-1/command/history", #"{"metric":"sleep","limit":501}"#, ["limit"]),
        ("ring-1/command/history", #"{"metric":"sleep","page":"\#(String(repeating: "x", count: 129))"}"#, ["page"]),
        ("ring-1/command/history", #"{"metric":"sleep","user_initiated":1}"#, ["user_initiated"]),
        ("ring-1/command/history", #"{"metric":"sleep","sync":true,"to":"2027-01-01T00:00:00Z"}"#, ["to"]),
        ("ring-1/command/daily", #"{"metric":"sleep","from_day":"2026-02-30"}"#, ["from_day"]),
        ("ring-1/command/daily", #"{"metric":"sleep","items":"all"}"#, ["items"]),
        ("ring-1/command/daily", #"{"metric":"sleep","from_day":"2026-11-22"}"#, ["to_day"]),
        ("ring-1/command/daily", #"{"metric":"sleep","from_day":"2025-11-20"}"#, ["to_day"]),
        (
            "ring-1/command/daily", #"{"metric":"sleep","from_day":"2026-11-22","to_day":"2026-11-23","sync":true}"#,
            ["from_day", "to_day"]
        ),
        (
            "ring-1/command/daily", #"{"metric":"sleep","from_day":"2026-11-20","to_day":"2026-11-22","sync":true}"#,
            ["to_day"]
        ),
        ("gateway/command/replay", "", ["from_seq", "to_seq"]),
        ("gateway/command/replay", #"{"from_seq":0,"to_seq":1.5}"#, ["from_seq", "to_seq"]),
        ("gateway/command/replay", #"{"from_seq":9,"to_seq":8}"#, ["to_seq"]),
        ("gateway/command/replay", #"{"from_seq":1,"to_seq":100001}"#, ["to_seq"]),
        ("gateway/command/scan", #"{"seconds":5}"#, ["seconds"]),
        ("ring-1/command/time", #"{"id":true,"issued_at":1,"expires_at":"soon"}"#, ["id", "issued_at", "expires_at"]),
        ("ring-1/command/time", #"{"id":""}"#, ["id"]),
        ("ring-1/command/time", #"{"id":"\#(String(repeating: "x", count: 129))"}"#, ["id"]),
        ("ring-1/command/time", #"{"id":1.5}"#, ["id"]),
    ]

    @Test(arguments: issues.indices)
    func `names every error by its path`(index: Int) {
        let (topic, payload, paths) = Self.issues[index]
        let incoming = parse(topic, payload)
        #expect(incoming.answer?.status == .rejected)
        #expect(incoming.answer?.code == .invalid)
        #expect(incoming.paths == paths)
        #expect(incoming.answer?.violations.allSatisfy { $0.code == .invalid } == true)
    }

    /// Payloads that are not commands at all, and the codes of their answers.
    static let payloads: [(payload: String, code: AnswerCode)] = [
        ("{", .badJSON), ("[]", .badJSON), ("null", .badJSON), ("1", .badJSON), ("\"PRESS\"", .badJSON),
        ("press", .badJSON), ("{} {}", .badJSON), ("{\"a\":\"\u{1}\"}", .badJSON),
        (#"{"a":"# + String(repeating: "[", count: 32) + String(repeating: "]", count: 32) + "}", .badJSON),
        (#"{"a":"# + String(repeating: "[", count: 31) + String(repeating: "]", count: 31) + "}", .invalid),
        (#"{"a":""# + String(repeating: "x", count: CommandLimits.payload - 8) + #""}"#, .invalid),
        (#"{"a":""# + String(repeating: "x", count: CommandLimits.payload - 7) + #""}"#, .tooLarge),
    ]

    @Test(arguments: payloads.indices, ["command/time", "config/set"])
    func `refuses what is not the JSON that is taken`(index: Int, name: String) {
        let (payload, code) = Self.payloads[index]
        let incoming = parse("ring-1/\(name)", payload)
        #expect(incoming.answer?.code == code)
        #expect(incoming.answer?.status == .rejected)
        #expect(incoming.republishesConfig == (name == "config/set"))
    }

    @Test func `refuses bytes that are no text`() {
        let incoming = Examples.parser.parse(
            topic: "vitals2mqtt/home/ring-1/command/time", payload: [0x7B, 0xFF, 0x00, 0x7D], isRetained: false,
            receivedAt: Examples.now)
        #expect(incoming.answer?.code == .badJSON)
    }

    @Test func `refuses a payload of which only the beginning was kept`() {
        let incoming = Examples.parser.parse(
            topic: "vitals2mqtt/home/ring-1/command/time", payload: Array("{}".utf8), payloadSize: 300_000,
            isRetained: false, receivedAt: Examples.now)
        #expect(incoming.answer?.code == .tooLarge)
    }

    @Test func `takes correlation data of 1024 bytes, and answers without longer ones`() throws {
        let longest = [UInt8](repeating: 7, count: 1_024)
        #expect(parse("ring-1/command/time", correlation: longest).deviceCommand != nil)
        #expect(parse("ring-1/command/time", correlation: longest).envelope?.correlation == longest)
        for topic in ["me/answers", "vitals2mqtt/home/ring-1/latest/steps", nil] {
            let incoming = parse("ring-1/command/time", responseTopic: topic, correlation: longest + [7])
            #expect(incoming.answer?.code == .invalid)
            #expect(incoming.envelope?.correlation == nil)
            #expect(incoming.envelope?.responseTopic == (topic == "me/answers" ? topic : nil))
        }
        let message = try #require(parse("ring-1/command/time", correlation: longest + [7]).answer?.message)
        #expect(message.contains("1025 bytes; at most 1024"))
    }

    @Test func `says which commands there are`() throws {
        let answer = try #require(parse("ring-1/command/dance").answer)
        #expect(answer.code == .unknownCommand)
        let message = try #require(answer.message)
        for name in ["sync", "measure", "fetch", "history", "daily", "time", "reconnect", "acknowledge"] {
            #expect(message.contains(name))
        }
        let gateway = try #require(parse("gateway/command/measure").answer?.message)
        for name in ["sync", "replay", "rediscover", "reload", "scan"] { #expect(gateway.contains(name)) }
        #expect(parse("gateway/config/set").answer?.code == .unknownCommand)
        #expect(parse("ring-1/command/").answer?.code == .unknownCommand)
    }

    @Test func `repeats no more than a part of a long name`() {
        let incoming = parse("ring-1/command/\(String(repeating: "é", count: 40_000))")
        #expect(incoming.envelope?.command.utf8.count == 64)
        let key = String(repeating: "k", count: 10_000)
        #expect(parse("ring-1/command/time", "{\"\(key)\":1}").paths == [String(key.prefix(128))])
    }

    @Test func `lists a hundred errors and counts the others`() throws {
        let members = (0..<500).map { "\"k\($0)\":1" }.joined(separator: ",")
        let answer = try #require(parse("ring-1/command/time", "{\(members)}").answer)
        #expect(answer.violations.count == 100)
        #expect(answer.message?.contains("500") == true)
    }

    @Test(arguments: ["Ring", "a b", "ü", ""])
    func `answers at the gateway where no device can have that name`(name: String) {
        let incoming = parse("\(name)/command/sync")
        #expect(incoming.answer?.code == .unknownDevice)
        #expect(incoming.envelope?.device == nil)
        #expect(parse("\(name)/config/set").answer?.code == .unknownDevice)
    }

    @Test func `does not begin what has expired`() {
        let payload = #"{"id":"x","expires_at":"2026-11-21T07:31:04.120Z"}"#
        let incoming = parse("ring-1/command/sync", payload)
        #expect(incoming.answer?.status == .expired)
        #expect(incoming.answer?.code == .expired)
        #expect(incoming.envelope?.id == "x")
        #expect(parse("ring-1/command/sync", #"{"expires_at":"2026-11-21T07:31:04.121Z"}"#).answer == nil)
        #expect(parse("ring-1/config/set", payload).republishesConfig)
    }

    static let responseTopics = [
        "", "vitals2mqtt/home", "vitals2mqtt/home/ring-1/config/set", "homeassistant/sensor/x/config", "homeassistant",
        "vitals2mqtt/home/bob-1/response", "vitals2mqtt/home/bob-1/command/sync", "vitals2mqtt/home/ring-1/response",
        "vitals2mqtt/home/gateway/command/reload", "homeassistant/status", "a/+/b", "a/#", "$SYS/x",
        "a\u{0}b", "a\u{7F}", "a\u{FFFE}", String(repeating: "x", count: 1025),
    ]

    @Test(arguments: responseTopics)
    func `refuses a response topic where no answer may go`(topic: String) {
        let incoming = parse("ring-1/command/sync", #"{"id":"c-1"}"#, responseTopic: topic, correlation: [7])
        #expect(incoming.answer?.status == .rejected)
        #expect(incoming.answer?.code == .invalid)
        #expect(incoming.envelope?.responseTopic == nil)
        #expect(incoming.envelope?.correlation == [7])
        #expect(incoming.envelope?.id == "c-1")
        #expect(parse("ring-1/config/set", "{", responseTopic: topic).republishesConfig)
    }

    @Test(arguments: [
        "me", "vitals2mqtt/home2/x", "vitals2mqtt", "homeassistant2/x", String(repeating: "x", count: 1024),
    ])
    func `takes any other response topic`(topic: String) {
        #expect(parse("ring-1/command/sync", responseTopic: topic).envelope?.responseTopic == topic)
    }
}
