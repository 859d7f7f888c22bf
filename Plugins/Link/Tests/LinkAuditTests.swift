import Foundation
import GatewayKit
import Testing

@testable import Link

/// Checks the audit's violations in lines that the driver forgives.
@Suite struct LinkAuditTests {
    private static let greeting = """
        {"id":1,"result":{"protocol":1,"capabilities":{"heart_rate":{"history":true},"max_history_days":7}}}
        """

    /// The violations after these calls of the gateway (method and params, ids from 1) and these lines of the device.
    private func violations(_ calls: [(String, String)], _ lines: [String]) -> [LinkAudit.Violation] {
        var audit = LinkAudit()
        for (index, call) in ([("initialize", "{}")] + calls).enumerated() {
            audit.sent(Array("{\"id\":\(index + 1),\"method\":\"\(call.0)\",\"params\":\(call.1)}\n".utf8))
        }
        // Byte by byte, as on a slow link.
        for byte in lines.map({ "\($0)\n" }).joined().utf8 { audit.received([byte]) }
        return audit.takeViolations()
    }

    private static let history = (
        "history/read", #"{"metric":"heart_rate","from":1000,"to":9000,"limit":2}"#
    )

    private static func sample(_ start: Int, _ metric: String = "heart_rate") -> String {
        #"{"metric":"\#(metric)","start":\#(start),"value":60}"#
    }

    @Test func `finds nothing in a good conversation`() {
        let lines = [
            Self.greeting, #"{"method":"sample","params":{"sample":\#(Self.sample(500))}}"#,
            #"{"id":2,"result":{"samples":[\#(Self.sample(1000)),\#(Self.sample(8999))],"next":null}}"#,
            #"{"id":3,"result":{"measurement":"m"}}"#,
            #"{"method":"measurement/sample","params":{"measurement":"m","sample":\#(Self.sample(500))}}"#,
            #"{"method":"measurement/ended","params":{"measurement":"m","completed":true}}"#,
            #"{"id":4,"error":{"code":-32601,"message":"unknown"}}"#,
        ]
        let calls = [Self.history, ("measurement/start", "{}"), ("summary/read", "{}")]
        #expect(violations(calls, lines) == [])
    }

    @Test(arguments: [
        (#"{"id":1,"result":{}}"#, LinkRule.ids, "Line 2 answers the call 1 a second time."),
        (#"{"id":"a","result":{}}"#, .ids, "Line 2 is an answer with the id \"a\", which no call has."),
        (#"{"id":2,"error":{"code":7}}"#, .errors, "history/read is answered with error 7"),
        (#"{"method":"pulse","params":{}}"#, .unknownNotifications, "Line 2 has the method pulse"),
        (#"{"method":"pulse","params":{},"id":1}"#, .unknownMethods, "Line 2 has the method pulse"),
        (#"{"method":"battery"}"#, .notifications, "Line 2, battery, has no params."),
        (#"{"method":"battery","params":{"percent":120}}"#, .notifications, "percent must be a number from 0 to 100"),
        (#"{"method":"sample","params":{"sample":{"metric":"heart_rate","start":1,"value":900}}}"#, .samples, "value"),
        (
            #"{"method":"sample","params":{"sample":{"metric":"heart_rate","start":1.5,"value":90}}}"#, .times,
            "start is 1.5, which is no whole number of milliseconds."
        ),
        (
            #"{"method":"measurement/sample","params":{"measurement":3,"sample":\#(sample(500))}}"#,
            .measurementNames, "A sample names the measurement 3, which does not run."
        ),
        (
            #"{"method":"measurement/ended","params":{"measurement":"m","completed":true}}"#, .measurement,
            "measurement/ended names the measurement \"m\", which does not run."
        ),
        (#"{"id":2,"result":{"samples":[\#(sample(999))]}}"#, .history, "record 1 starts at 999, before 1000."),
        (#"{"id":2,"result":{"samples":[\#(sample(9000))]}}"#, .history, "9000, which is not before 9000."),
        (#"{"id":2,"result":{"samples":[\#(sample(1000, "stress"))]}}"#, .history, "record 1 is of stress."),
        (
            #"{"id":2,"result":{"samples":[\#(sample(1000)),\#(sample(2000)),\#(sample(3000))]}}"#, .history,
            "a page has 3 records; at most 2 were asked for."
        ),
    ])
    func `says what a line has that it should not have`(line: String, rule: LinkRule, text: String) {
        let found = violations([Self.history], [Self.greeting, line])
        #expect(found.count == 1)
        #expect(found.first?.rule == rule)
        #expect(found.first?.text.contains(text) ?? false, "\(found)")
    }

    @Test func `reports a sample that does not wait for the answer to initialize`() {
        let found = violations([], [#"{"method":"sample","params":{"sample":\#(Self.sample(500))}}"#, Self.greeting])
        #expect(found.map(\.rule) == [.silenceBeforeInitialize])
    }

    @Test func `names unknown metrics and abilities once each`() {
        let capabilities = #"{"heart_rate":{"histroy":true},"heartrate":{"measure":true}}"#
        let line = #"{"id":1,"result":{"protocol":1,"capabilities":\#(capabilities)}}"#
        let found = violations([], [line])
        #expect(found.map(\.rule) == [.unknownCapabilities, .unknownCapabilities])
        #expect(found.map(\.text).joined().contains("heartrate, which is no metric"))
        #expect(found.map(\.text).joined().contains("histroy, which is no ability"))
    }

    @Test func `keeps no more violations of one rule than a reader needs`() {
        let garbage = (0..<100).map { "garbage \($0)" }
        #expect(violations([], garbage).count == LinkAudit.mostViolations)
    }

    @Test(arguments: LinkRule.allCases)
    func `a rule stands in its section of the protocol, word by word`(rule: LinkRule) throws {
        let page = try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Protocol.md"),
            encoding: .utf8)
        let sections = page.split(separator: "\n## ").map { $0.split(separator: "\n", maxSplits: 1) }
        let section = try #require(sections.first { $0.first.map(String.init) == rule.section }?.last)
        let words = section.replacing("*", with: "").split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(words.contains(rule.text))
    }
}
