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
}
