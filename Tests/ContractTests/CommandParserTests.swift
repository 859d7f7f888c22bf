import Contract
import JSON
import Testing
import Vitals

@Suite struct CommandParserTests {
    @Test(arguments: ["", " \n", "PRESS", "{}"])
    func `takes these for no arguments`(payload: String) {
        #expect(
            parse("ring-1/command/sync", payload)
                == .device(
                    .sync(metrics: [], from: nil, to: nil),
                    CommandEnvelope(device: Examples.device, command: "sync")))
    }

    static let commands: [(topic: String, payload: String, command: DeviceCommand)] = [
        ("sync", #"{"metrics":["sleep","steps","sleep"]}"#, .sync(metrics: [.sleep, .steps], from: nil, to: nil)),
        (
            "sync", #"{"from":"2026-11-20T00:00:00+01:00","to":"2026-11-21T07:31:04Z"}"#,
            .sync(
                metrics: [], from: Examples.time("2026-11-19T23:00:00Z"), to: Examples.time("2026-11-21T07:31:04Z"))
        ),
        ("measure", #"{"metric":"heart_rate"}"#, .measure(.heartRate, duration: .seconds(60))),
        (
            "measure", #"{"metric":"stress","action":"start","duration_s":5}"#, .measure(.stress, duration: .seconds(5))
        ),
        ("measure", #"{"metric":"stress","duration_s":600}"#, .measure(.stress, duration: .seconds(600))),
        ("measure", #"{"action":"stop"}"#, .stopMeasuring(nil)),
        ("measure", #"{"action":"stop","metric":"stress"}"#, .stopMeasuring(.stress)),
        ("fetch", "", .fetch(metrics: [])),
        ("fetch", #"{"metrics":["stress"]}"#, .fetch(metrics: [.stress])),
        ("time", "", .time),
        ("reconnect", "PRESS", .reconnect),
        (
            "acknowledge", #"{"id":"48f87357-0bf7-5758-ad2e-511355013f20","by":"Grandma Änne"}"#,
            .acknowledge(SampleID(name: "raised"), by: "Grandma Änne")
        ),
        (
            "assign", #"{"id":"48f87357-0bf7-5758-ad2e-511355013f20","person":"anna"}"#,
            .assign(SampleID(name: "raised"), person: "anna")
        ),
        ("assign", #"{"person":"anna"}"#, .assign(nil, person: "anna")),
        ("withdraw", #"{"id":"48f87357-0bf7-5758-ad2e-511355013f20"}"#, .withdraw(SampleID(name: "raised"))),
        ("withdraw", "PRESS", .withdraw(nil)),
        (
            "history", #"{"metric":"battery"}"#,
            .history(.battery, from: nil, to: nil, limit: 200, page: nil, syncsFirst: false)
        ),
        (
            "history", #"{"metric":"sleep","limit":500,"page":"1.2.0","sync":true,"from":null}"#,
            .history(.sleep, from: nil, to: nil, limit: 500, page: "1.2.0", syncsFirst: true)
        ),
        (
            "history", #"{"metric":"stress","user_initiated":true}"#,
            .history(
                .stress, from: nil, to: nil, limit: 200, page: nil, syncsFirst: false, isUserInitiated: true)
        ),
        (
            "daily", #"{"metric":"steps"}"#,
            .daily(.steps, from: LocalDay(number: 20_778), to: LocalDay(number: 20_778), syncsFirst: false)
        ),
        (
            "daily", #"{"metric":"steps","from_day":"2026-11-01","to_day":"2026-11-20","sync":true}"#,
            .daily(.steps, from: LocalDay(number: 20_758), to: LocalDay(number: 20_777), syncsFirst: true)
        ),
        (
            "daily", #"{"metric":"steps","to_day":"2026-11-20"}"#,
            .daily(.steps, from: LocalDay(number: 20_777), to: LocalDay(number: 20_777), syncsFirst: false)
        ),
        (
            "daily", #"{"metric":"stress","items":true}"#,
            .daily(
                .stress, from: LocalDay(number: 20_778), to: LocalDay(number: 20_778), syncsFirst: false,
                listsItems: true)
        ),
    ]

    @Test(arguments: commands.indices)
    func `understands the commands of a device`(index: Int) {
        let (name, payload, command) = Self.commands[index]
        #expect(parse("ring-1/command/\(name)", payload).deviceCommand == command)
        #expect(command.name == name)
    }

    @Test(arguments: [#"{"passkey":"012345"}"#, #"{"passkey":12345}"#])
    func `understands a passkey as text and as a number, and shows it nowhere`(payload: String) throws {
        let incoming = parse("ring-1/command/passkey", payload)
        guard case .passkey(let passkey, let envelope) = incoming else {
            Issue.record("It is no passkey.")
            return
        }
        #expect(passkey.digits == "012345")
        #expect(envelope.command == "passkey")
        #expect(!"\(incoming)".contains("12345"))
    }

    /// Commands that are as long, and ask for as much, as the limits allow.
    static let greatest: [(topic: String, payload: String)] = [
        ("ring-1/command/time", #"{"id":"\#(String(repeating: "x", count: 128))"}"#),
        ("ring-1/command/sync", #"{"to":"2026-11-21T07:32:04.120Z"}"#),
        ("ring-1/command/history", #"{"metric":"sleep","limit":1,"page":"\#(String(repeating: "1", count: 128))"}"#),
        ("ring-1/command/daily", #"{"metric":"sleep","from_day":"2025-11-21"}"#),
        (
            "ring-1/command/acknowledge",
            #"{"id":"48f87357-0bf7-5758-ad2e-511355013f20","by":"\#(String(repeating: "é", count: 128))"}"#
        ),
        ("gateway/command/scan", #"{"duration_s":1}"#),
    ]

    @Test(arguments: greatest.indices)
    func `takes what is as long and as much as the limits allow`(index: Int) {
        let (topic, payload) = Self.greatest[index]
        #expect(parse(topic, payload).answer == nil)
    }

    static let gatewayCommands: [(topic: String, payload: String, command: GatewayCommand)] = [
        ("sync", "PRESS", .sync), ("rediscover", "", .rediscover), ("reload", "{}", .reload),
        ("scan", "", .scan(duration: .seconds(10))), ("scan", #"{"duration_s":60}"#, .scan(duration: .seconds(60))),
        ("replay", #"{"from_seq":7,"to_seq":7}"#, .replay(7...7)),
        ("replay", #"{"from_seq":1,"to_seq":100000}"#, .replay(1...100_000)),
    ]

    @Test(arguments: gatewayCommands.indices)
    func `understands the commands of the gateway`(index: Int) {
        let (name, payload, command) = Self.gatewayCommands[index]
        let incoming = parse("gateway/command/\(name)", payload)
        #expect(incoming.gatewayCommand == command)
        #expect(incoming.envelope?.device == nil)
    }

    @Test func `keeps what is around a command`() {
        let incoming = parse(
            "ring-1/command/time",
            #"{"id":"c-81","issued_at":"2026-11-21T07:00:00Z","expires_at":"2026-11-21T08:00:00Z"}"#,
            responseTopic: "me/answers", correlation: [1, 2])
        #expect(
            incoming
                == .device(
                    .time,
                    CommandEnvelope(
                        id: "c-81", content: SampleID(name: "{}"), device: Examples.device, command: "time",
                        expiresAt: Examples.time("2026-11-21T08:00:00Z"), responseTopic: "me/answers",
                        correlation: [1, 2])))
    }

    @Test func `the id of an acknowledgement is the alert's, so that each person's is a command of its own`() throws {
        func key(_ members: String) throws -> String {
            let envelope = try #require(
                parse("ring-1/command/acknowledge", #"{"id":"48f87357-0bf7-5758-ad2e-511355013f20",\#(members)}"#)
                    .envelope)
            #expect(envelope.id == "48f87357-0bf7-5758-ad2e-511355013f20")
            return try #require(envelope.key)
        }
        let anna = try key(#""by":"anna""#)
        let again = try key(#""expires_at":"2026-11-21T08:00:00Z","by":"anna""#)
        let ben = try key(#""by":"ben""#)
        #expect(again == anna && ben != anna)
        #expect(anna.hasPrefix("ring-1 acknowledge 48f87357-0bf7-5758-ad2e-511355013f20 "))
        #expect(parse("ring-1/command/time", #"{"id":"c"}"#).envelope?.key == "ring-1 time c")
    }

    @Test func `whose a sample is can be said again within ten minutes`() {
        for (name, members) in [("assign", #","person":"anna""#), ("withdraw", "")] {
            let payload = #"{"id":"48f87357-0bf7-5758-ad2e-511355013f20"\#(members)}"#
            let envelope = parse("ring-1/command/\(name)", payload).envelope
            #expect(envelope?.id == "48f87357-0bf7-5758-ad2e-511355013f20" && envelope?.key == nil)
        }
    }

    @Test(arguments: [(#"{"id":17}"#, "17"), (#"{"id":null}"#, nil), (#"{"id":"17"}"#, "17")])
    func `takes a number for an id, and null for none`(payload: String, id: String?) {
        let incoming = parse("ring-1/command/time", payload)
        #expect(incoming.deviceCommand == .time)
        #expect(incoming.envelope?.id == id)
    }

    /// Commands, and the same content in another form.
    static let sameContents: [(topic: String, first: String, second: String)] = [
        ("command/sync", "", #""issued_at":"2026-11-21T07:00:00Z","expires_at":"2026-11-21T08:00:00Z""#),
        (
            "command/history", #""metric":"sleep","limit":20"#,
            #" "limit" : 2.0e1, "from" : null, "expires_at":"2026-11-22T08:00:00Z", "metric" : "sl\u0065ep" "#
        ),
        (
            "config/set", #""if_version":1,"stress":{"schedule":{"enabled":true,"interval_min":5}}"#,
            #""stress":{"schedule":{"interval_min":5,"enabled":true}},"if_version":1"#
        ),
        // Nothing of a passkey is kept.
        ("command/passkey", #""passkey":"012345""#, #""passkey":"543210""#),
    ]

    @Test(arguments: sameContents.indices)
    func `a content is the same in any form, and whenever it was issued or expires`(index: Int) throws {
        let (topic, first, second) = Self.sameContents[index]
        func content(_ members: String) -> SampleID? {
            let incoming = parse("ring-1/\(topic)", "{\"id\":7\(members.isEmpty ? "" : ",")\(members)}")
            #expect(incoming.answer == nil)
            return incoming.envelope?.content
        }
        let expected = try #require(content(first))
        #expect(content(second) == expected)
    }

    @Test func `contents differ by each argument, and only a valid command with an id has one`() {
        func content(_ name: String, _ members: String, id: String = #""id":"c","#) -> SampleID? {
            parse("ring-1/command/\(name)", "{\(id)\(members)}").envelope?.content
        }
        let contents = [
            #""metric":"sleep""#, #""metric":"steps""#, #""metric":"sleep","limit":5"#,
            #""metric":"sleep","sync":false"#,
            #""metric":"sleep","from":"2026-11-20T00:00:00Z""#, #""metric":"sleep","to":"2026-11-20T00:00:00Z""#,
        ].map { content("history", $0) }
        #expect(Set(contents.compactMap { $0 }).count == contents.count)
        #expect(content("history", #""metric":"sleep""#, id: "") == nil)
        #expect(content("history", #""metric":"noise""#) == nil)
        #expect(content("dance", #""metric":"sleep""#) == nil)
    }

    @Test func `ignores what was retained, whatever it is`() {
        #expect(parse("ring-1/command/sync", isRetained: true) == .ignored)
        #expect(parse("ring-1/command/nonsense", "{", isRetained: true) == .ignored)
        #expect(parse("ring-1/config/set", isRetained: true) == .ignored)
    }

    @Test(arguments: ["ring-1/info", "ring-1/command", "ring-1/command/a/b", "ring-1/config/get", "", "a/b/c/d"])
    func `ignores topics that are no commands`(topic: String) { #expect(parse(topic) == .ignored) }

    @Test(arguments: ["other/home/ring-1/command/sync", "vitals2mqtt/home2/ring-1/command/sync", "vitals2mqtt/home"])
    func `ignores topics of others`(topic: String) {
        let incoming = Examples.parser.parse(topic: topic, payload: [], isRetained: false, receivedAt: Examples.now)
        #expect(incoming == .ignored)
    }
}
