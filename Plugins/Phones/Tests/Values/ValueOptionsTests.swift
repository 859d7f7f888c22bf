import GatewayKit
import JSON
import Testing
import Vitals

@testable import Phones

@Suite struct ValueOptionsTests {
    private static func issues(_ topics: String, _ more: String = "") throws -> [String] {
        try Publishers.driver("{\(more)\"topics\":\(topics)}").issues
    }

    @Test func `a topic is what it says, and with a placeholder that of one device among others`() throws {
        let plain = try Publishers.driver(
            #"{"topics":[{"topic":"a/+","values":[{"metric":"weight"}]},{"topic":"a/+","values":[{"metric":"heart_rate"}]}]}"#
        )
        #expect(plain.issues.isEmpty)
        #expect(
            plain.driver.topics == [MessageTopic(subscription: TopicFilter("a/+"), own: TopicFilter("a/+"))])
        let own = try Publishers.driver(
            #"{"device":"C8","topics":[{"topic":"home/+/{device}","values":[{"metric":"weight"}]}]}"#)
        #expect(own.issues.isEmpty)
        #expect(
            own.driver.topics == [
                MessageTopic(subscription: TopicFilter("home/+/+"), own: TopicFilter("home/+/C8"))
            ])
    }

    @Test(arguments: [
        ("[]", "topics is missing"), (#"[{"topic":"a"}]"#, "values: [{metric: …}]"),
        (#"[{"values":[{"metric":"weight"}]}]"#, "topic is missing"),
        (#"[{"topic":"a","values":[{"metric":"steps"}]}]"#, "There is no value steps to read. There is heart_rate"),
        (#"[{"topic":"a","values":[{"metric":"weight","unit":"°C"}]}]"#, "°C is no unit of weight. Units: kg, g, lb"),
        (#"[{"topic":"a","values":[{"metric":"weight","unit":"kg","unit_path":"u"}]}]"#, "Either unit or unit_path"),
        (#"[{"topic":"a","values":[{"metric":"stress","unit":"%"}]}]"#, "% is no unit of stress. Units: none."),
        (#"[{"topic":"a","values":[{"metric":"weight","path":"a..b"}]}]"#, "no path"),
        (#"[{"topic":"a","values":[{"metric":"weight","when":{"a..b":"1"}}]}]"#, "no path"),
        (#"[{"topic":"a","values":[{"metric":"blood_pressure","path":"a"}]}]"#, "systolic and diastolic"),
        (#"[{"topic":"a","values":[{"metric":"weight","pulse":"a"}]}]"#, "Only a blood pressure"),
        (#"[{"topic":"a/{device}","values":[{"metric":"weight"}]}]"#, "The option device is missing"),
        (#"[{"topic":"a/{device}","values":[{"metric":"weight"}]}]"#, "write each_device: true"),
        (#"[{"topic":"a/x{device}","values":[{"metric":"weight"}]}]"#, "must be a whole level"),
        (#"[{"topic":"a","values":[{"metric":"weight","kind":"b"}]}]"#, "There is no such key"),
    ])
    func `a wrong option is named, with what would be right`(topics: String, message: String) throws {
        let issues = try Self.issues(topics)
        #expect(issues.contains { $0.contains(message) }, "\(issues)")
    }

    @Test(arguments: [
        (#""device":"a/b","#, "One level of a topic"), (#""device":"C8","#, "No topic has {device}"),
        (#""same_for":"2d","#, "A duration from 0s to 1d"),
        (#""each_device":true,"#, "With each_device one level of the topic must be {device}."),
        (#""each_device":true,"device":"C8","#, "Either device or each_device"),
        (#""except":["C8"],"#, "Only each_device has exceptions"),
    ])
    func `an option of the whole device is checked`(option: String, message: String) throws {
        let issues = try Self.issues(#"[{"topic":"a","values":[{"metric":"weight"}]}]"#, option)
        #expect(issues.contains { $0.contains(message) }, "\(issues)")
    }

    @Test func `each part of a topic can get a device, if its message has a value`() throws {
        let options = #"""
            {"each_device":true,"except":"porch",
            "topics":[{"topic":"home/{device}/state","values":[{"metric":"weight","path":"weight"}]}]}
            """#
        let (driver, issues) = try Publishers.driver(options)
        #expect(issues.isEmpty, "\(issues)")
        let template = try #require(driver.template)
        #expect(template.captures == [MessageTemplate.Capture(TopicFilter("home/+/state"), level: 1)])
        #expect(template.captures[0].part(of: "home/C8/state") == "C8")
        #expect(template.except == ["porch"])
        func isWanted(_ payload: String, on topic: String = "home/C8/state", isStored: Bool = false, size: Int = 9)
            -> Bool
        {
            template.isWanted(
                DocumentMessage(topic: topic, isStored: isStored, size: size), Array(payload.utf8),
                Timestamp(seconds: 1_767_225_600), Timestamp(seconds: 1_767_225_900), Phone.berlin)
        }
        #expect(isWanted(#"{"weight":72}"#))
        // A lamp, a weight of nobody, the age of which is unknown, and a message that is too long.
        #expect(!isWanted(#"{"state":"ON"}"#) && !isWanted(#"{"weight":7200}"#))
        #expect(!isWanted(#"{"weight":72}"#, isStored: true) && !isWanted(#"{"weight":72}"#, on: "other/C8"))
        #expect(!isWanted(#"{"weight":72}"#, size: ValuesDriver.maximumSize + 1))
        let one = try Publishers.driver(#"{"topics":[{"topic":"a","values":[{"metric":"weight"}]}]}"#).driver
        #expect(one.template == nil)
    }

    @Test func `a value of the future, or by a clock that was never set, makes no device`() throws {
        let options = #"""
            {"each_device":true,"topics":[{"topic":"home/{device}/state",
            "values":[{"metric":"weight","path":"weight","time":"at"},{"metric":"body_fat","path":"fat"}]}]}
            """#
        let template = try #require(try Publishers.driver(options).driver.template)
        let now = Timestamp(seconds: 1_767_225_600)
        let wanted = [(0, ""), (300, ""), (301, ""), (301, #","fat":20"#), (-1_767_225_600, "")].map { seconds, more in
            template.isWanted(
                DocumentMessage(topic: "home/C8/state", isStored: false, size: 9),
                Array(#"{"weight":72,"at":\#(1_767_225_600 + seconds)\#(more)}"#.utf8), now, now + .minutes(5),
                Phone.berlin)
        }
        #expect(wanted == [true, true, false, true, false])
    }

    @Test func `a device has so many topics, values and texts of a condition at most`() throws {
        func list(_ entry: String, _ count: Int) -> String {
            "[\(Array(repeating: entry, count: count).joined(separator: ","))]"
        }
        func topic(_ values: String) -> String { #"{"topic":"a","values":\#(values)}"# }
        let value = #"{"metric":"weight"}"#
        func condition(_ count: Int) -> String {
            let texts = list("\"x\"", count)
            return topic("[\(#"{"metric":"weight","when":{"a":\#(texts)}}"#)]")
        }
        let fitting = [
            list(topic("[\(value)]"), ValueTopic.maximumTopics), "[\(topic(list(value, ValueTopic.maximumValues)))]",
            "[\(condition(ValueRule.maximumTexts))]",
        ]
        for topics in fitting {
            let issues = try Self.issues(topics)
            #expect(issues.isEmpty, "\(issues)")
        }
        let tooMany = [
            list(topic("[\(value)]"), ValueTopic.maximumTopics + 1),
            "[\(topic(list(value, ValueTopic.maximumValues + 1)))]", "[\(condition(ValueRule.maximumTexts + 1))]",
        ]
        for topics in tooMany {
            let issues = try Self.issues(topics)
            #expect(issues.contains { $0.lowercased().contains("at most") }, "\(issues)")
        }
        let count = ValuesDriver.maximumExcept
        for (parts, isTaken) in [(count, true), (count + 1, false)] {
            let options = #""each_device":true,"except":\#(list("\"x\"", parts)),"#
            let issues = try Self.issues(#"[{"topic":"a/{device}","values":[{"metric":"weight"}]}]"#, options)
            #expect(issues.isEmpty == isTaken, "\(issues)")
        }
    }
}
