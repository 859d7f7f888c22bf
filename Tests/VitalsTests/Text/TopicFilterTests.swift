import Testing

@testable import Vitals

@Suite struct TopicFilterTests {
    @Test(arguments: [
        ("a/b", "a/b", true), ("a/b", "a", false), ("a/b", "a/b/c", false), ("a/+", "a/b", true), ("a/+", "a/", true),
        ("a/+", "a", false), ("+/b", "a/b", true), ("+", "a/b", false), ("a/#", "a/b/c", true), ("a/#", "a", true),
        ("a/#", "ab", false), ("#", "a/b", true), ("#", "$SYS/uptime", false), ("+/uptime", "$SYS/uptime", false),
        ("a/+/c", "a/b/c", true), ("a/+/c", "a/b/d", false), ("/a", "a", false),
    ])
    func `a filter takes the topics that MQTT says`(filter: String, topic: String, isTaken: Bool) {
        #expect(TopicFilter(filter).matches(topic) == isTaken)
    }

    @Test(arguments: [
        ("a/b/c", true), ("a/b", true), ("a", false), ("#", true), ("a/#", true), ("a/+", true), ("+/b/#", true),
        ("+", false), ("+/+/+/+", true), ("x/+", false), ("a/c/#", false), ("ab/#", false),
    ])
    func `a filter reaches into a topic if it takes this one or any below it`(filter: String, does: Bool) {
        #expect(TopicFilter(filter).reaches(into: "a/b") == does)
    }

    @Test(arguments: [
        ("ov/+/s", "ov/+/s", true), ("ov/+/s", "ov/+/+", true), ("ov/+/s", "ov/#", true), ("ov/#", "ov", true),
        ("+/state", "zigbee2mqtt/+", true), ("ov/+/s", "ov/+/t", false), ("ov/+/s", "ov/+", false),
        ("ov/+", "ow/+", false), ("caf\u{e9}/+", "cafe\u{301}/+", false),
    ])
    func `two filters overlap if there is a topic that both take`(one: String, other: String, areCommon: Bool) {
        #expect(TopicFilter(one).overlaps(TopicFilter(other)) == areCommon)
        #expect(TopicFilter(other).overlaps(TopicFilter(one)) == areCommon)
    }
}
