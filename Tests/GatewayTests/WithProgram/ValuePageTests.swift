import BundledPlugins
import Foundation
import Gateway
import GatewayKit
import Testing

/// The page about values on the broker, and which topics they may have.
@Suite struct ValuePageTests {
    private let loader: ConfigurationLoader

    init() throws {
        loader = ConfigurationLoader(plugins: try PluginCatalogue(BundledPlugins.all), environment: [:])
    }

    private func issues(_ text: String) -> [String] {
        do throws(ConfigurationError) {
            _ = try loader.load(text: text, directory: "/nowhere")
            return []
        } catch {
            return error.issues.map { $0.text(file: nil) }
        }
    }

    /// A device with one topic.
    private static func device(_ topic: String, id: String = "scale", mqtt: String = "url: mqtt://h") -> String {
        """
        mqtt: {\(mqtt)}
        devices:
          - {id: \(id), driver: mqtt-values, options: {topics: [{topic: "\(topic)", values: [{metric: weight}]}]}}

        """
    }

    @Test func `each entry of the page passes the check`() throws {
        let page = try String(
            contentsOf: URL(filePath: #filePath).appending(path: "../../../../docs/ValuesOnTheBroker.md")
                .standardizedFileURL, encoding: .utf8)
        let blocks = page.components(separatedBy: "```yaml\n").dropFirst().map {
            $0.components(separatedBy: "\n```")[0]
        }
        #expect(blocks.count == 8)
        try withFolder { folder in
            for block in blocks {
                let issues = issues("mqtt: {url: mqtt://h}\n\(block.replacing("devices.d", with: folder))\n")
                #expect(issues.isEmpty, "\(block)\n\(issues)")
            }
        }
    }

    @Test(arguments: [
        ("vitals2mqtt/home/scale/latest/weight", "inside vitals2mqtt"), ("#", "inside vitals2mqtt"),
        ("homeassistant/sensor/+/state", "inside homeassistant"), ("$SYS/#", "must not begin with $"),
        ("a/b#", "whole level"),
    ])
    func `a topic that would bring the gateway its own messages is refused`(topic: String, issue: String) {
        let issues = issues(Self.device(topic))
        #expect(issues.count == 1 && issues.first?.contains(issue) == true, "\(issues)")
        #expect(issues.first?.contains("devices[0].options") == true, "\(issues)")
    }

    @Test func `another base and another prefix count instead`() {
        let mqtt = "url: mqtt://h, base_topic: body/vitals"
        #expect(issues(Self.device("vitals2mqtt/x", mqtt: mqtt)).isEmpty)
        #expect(issues(Self.device("body/+", mqtt: mqtt)).count == 1)
        #expect(issues(Self.device("homeassistant/x") + "home_assistant: {discovery: off}\n").isEmpty)
    }

    @Test func `several devices may read one topic`() {
        let second = Self.device("a/b", id: "second").split(separator: "\n").last.map(String.init) ?? ""
        #expect(issues(Self.device("a/b") + second + "\n").isEmpty)
    }

    @Test func `it needs no transport`() {
        let text = Self.device("a/b").replacing(
            "driver: mqtt-values,", with: "driver: mqtt-values, transport: {type: mqtt},")
        #expect(issues(text).contains { $0.contains("The driver mqtt-values needs no transport; remove it.") })
    }
}
