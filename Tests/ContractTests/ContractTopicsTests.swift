import Contract
import MQTT
import Testing
import Vitals

@Suite struct ContractTopicsTests {
    static let device = Examples.device

    /// The table of the contract: topic, whether it is retained, and its expiry.
    static let table: [(topic: Topic, text: String, isRetained: Bool, expiry: Duration?)] = [
        (.gatewayStatus, "gateway/status", true, nil),
        (.gatewayInfo, "gateway/info", true, nil),
        (.gatewayState, "gateway/state", true, nil),
        (.gatewayResponse, "gateway/response", false, .seconds(60)),
        (.gatewayCommand("replay"), "gateway/command/replay", false, nil),
        (.info(device), "ring-1/info", true, nil),
        (.availability(device), "ring-1/availability", true, nil),
        (.link(device), "ring-1/link", true, nil),
        (.latest(device, .heartRate), "ring-1/latest/heart_rate", true, nil),
        (.today(device, .sleep), "ring-1/daily/sleep", true, nil),
        (.pastDay(device, .sleep, LocalDay(number: 20_777)), "ring-1/daily/sleep/2026-11-20", false, .days(7)),
        (.measurement(device, .bloodOxygen), "ring-1/measurement/blood_oxygen", false, .days(7)),
        (.alertEvent(device), "ring-1/event/alert", false, .hours(1)),
        (.historyEvent(device), "ring-1/event/history", false, .days(7)),
        (.gapEvent(device), "ring-1/event/gap", false, .days(7)),
        (.level(device, AlertRule(.stress, .high)), "ring-1/alert/stress_high", true, nil),
        (.config(device), "ring-1/config", true, nil),
        (.sync(device), "ring-1/sync", true, nil),
        (.measure(device), "ring-1/measure", true, nil),
        (.response(device), "ring-1/response", false, .seconds(60)),
        (.configSet(device), "ring-1/config/set", false, nil),
        (.command(device, "sync"), "ring-1/command/sync", false, nil),
    ]

    @Test func `tells whose info a topic is`() {
        let topics = Examples.topics
        #expect(topics.owner(ofInfo: "vitals2mqtt/home/ring-1/info") == "ring-1")
        #expect(topics.owner(ofInfo: "vitals2mqtt/home/gateway/info") == "gateway")
        for topic in [
            "vitals2mqtt/home/info", "vitals2mqtt/home//info", "vitals2mqtt/home/a/b/info", "vitals2mqtt/home/a/link",
            "vitals2mqtt/homes/a/info", "info", "", "vitals2mqtt/home/a/info/more",
        ] { #expect(topics.owner(ofInfo: topic) == nil, "\(topic)") }
    }

    @Test(arguments: table.indices)
    func `builds each topic as the table has it`(index: Int) {
        let row = Self.table[index]
        #expect(Examples.topics.topic(row.topic) == "vitals2mqtt/home/\(row.text)")
        #expect(row.topic.isRetained == row.isRetained)
        #expect(row.topic.expiry == row.expiry)
    }

    @Test func `recognises the topics that it builds for commands`() {
        let topics = ContractTopics(base: "a/b", gateway: Examples.id("g"))
        #expect(topics.inbound(topics.topic(.command(Self.device, "sync"))) == .device("ring-1", "sync"))
        #expect(topics.inbound(topics.topic(.configSet(Self.device))) == .configSet(device: "ring-1"))
        #expect(topics.inbound(topics.topic(.gatewayCommand("scan"))) == .gateway("scan"))
        #expect(topics.inbound("a/b/g/gateway/config/set") == .configSet(device: nil))
        #expect(topics.inbound(topics.topic(.config(Self.device))) == nil)
        #expect(topics.commandFilters == ["a/b/g/+/command/+", "a/b/g/+/config/set"])
    }

    @Test func `takes away every retained topic of a device, each once`() {
        let topics = Topic.retained(of: Self.device)
        #expect(topics.allSatisfy { $0.isRetained })
        #expect(Set(topics).count == topics.count)
        for row in Self.table where row.isRetained && row.text.hasPrefix("ring-1/") {
            #expect(topics.contains(row.topic), "\(row.text)")
        }
        let message = OutgoingMessage.removal(of: "t")
        #expect(message.isRetained && message.payload.isEmpty && message.contentType == nil)
    }

    @Test(arguments: ["vitals2mqtt", "a/b/c", "Über/uns", String(repeating: "x", count: 128)])
    func `takes a base`(base: String) { #expect(ContractTopics.issue(inBase: base) == nil) }

    @Test(arguments: ["", "a//b", "/a", "a/", "a/+", "#", "$a", "a\u{0}", String(repeating: "x", count: 129)])
    func `refuses a base that no broker would take, or nobody could read`(base: String) {
        #expect(ContractTopics.issue(inBase: base) != nil)
    }

    @Test(arguments: ["zigbee2mqtt/scale", "home/+/BTtoMQTT/+", "tele/#", "vitals2mqtt-old/a", "a/homeassistant/b"])
    func `takes a filter of what others publish`(filter: String) {
        #expect(Examples.topics.issue(inFilter: filter, discoveryPrefix: "homeassistant") == nil)
    }

    @Test(arguments: [
        ("", "empty"), ("a/b+", "whole level"), ("a/#/b", "only as the last"), ("$SYS/+", "begin with $"),
        ("$share/a/b", "begin with $"), ("a/\u{0}", "control characters"), ("#", "loop"), ("+/+/+", "loop"),
        ("vitals2mqtt/home/a/latest/weight", "loop"), ("vitals2mqtt/other/#", "loop"), ("vitals2mqtt", "loop"),
        ("homeassistant/sensor/+/config", "loop"), ("+/sensor/#", "loop"),
    ])
    func `refuses a filter that no broker takes, or that would bring back what the gateway publishes`(
        filter: String, word: String
    ) {
        let issue = Examples.topics.issue(inFilter: filter, discoveryPrefix: "homeassistant")
        #expect(issue?.contains(word) == true, "\(issue ?? "none")")
    }
}
