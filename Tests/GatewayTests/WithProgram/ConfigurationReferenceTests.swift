import BundledPlugins
import Foundation
import Gateway
import GatewayKit
import Testing

@Suite struct ConfigurationReferenceTests {
    private let reference: ConfigurationReference
    private let keys: [String: KeyDescription]

    init() throws {
        reference = ConfigurationReference(try PluginCatalogue(BundledPlugins.all))
        keys = Dictionary(reference.sections.flatMap(\.keys).map { ($0.path, $0) }) { first, _ in first }
    }

    /// The paths of all keys in the commented configuration, as the reference has them.
    private func samplePaths() throws -> Set<String> {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../deploy/vitals2mqtt.yaml").standardizedFileURL
        return paths(try YAMLDocument(switchedOn(try String(contentsOf: file, encoding: .utf8)).text).root, "")
    }

    private func paths(_ value: ConfigurationValue, _ path: String) -> Set<String> {
        switch value.content {
        case .scalar, .null: return []
        case .list(let values): return values.reduce(into: []) { $0.formUnion(paths($1, "\(path)[]")) }
        case .map(let members):
            return members.reduce(into: []) { found, member in
                let name = member.key.text
                let ownKey = path.isEmpty ? name : "\(path).\(name)"
                // A device's own settings have the gateway's names.
                let key = path == "devices[]" && keys[ownKey] == nil ? name : ownKey
                found.insert(key)
                // Its keys are the ids of users.
                if key == "web.users" { return }
                let isMap = keys[key].map { $0.kind == "map" || $0.kind.hasSuffix(" maps") } ?? true
                guard isMap else { return }
                var inside = key
                if let driver = value["driver"]?.text, name == "options" { inside = "options (\(driver))" }
                if let type = member.value["type"]?.text, name == "transport" { inside = "transport (\(type))" }
                found.formUnion(paths(member.value, inside))
            }
        }
    }

    @Test func `has every key of the commented configuration`() throws {
        let sample = try samplePaths()
        #expect(sample.count > 100)
        for path in sample where !path.hasSuffix(").type") {
            let isKnown = keys[path] != nil || keys.keys.contains { $0.hasPrefix("\(path).") }
            #expect(isKnown, "config-reference has no \(path)")
        }
    }

    @Test func `has no key of the gateway that the commented configuration has not`() throws {
        let sample = try samplePaths()
        for key in try #require(reference.sections.first).keys {
            #expect(sample.contains(key.path), "deploy/vitals2mqtt.yaml has no \(key.path)")
        }
    }

    @Test func `shows ranges and defaults as they are checked`() {
        #expect(keys["mqtt.keep_alive"]?.kind == "duration, 5s to 65535s")
        #expect(keys["mqtt.keep_alive"]?.default == "15s")
        #expect(keys["mqtt.url"]?.default == KeyDescription.required)
        #expect(keys["store.outbox.max_size"]?.kind == "size, 16MiB to 1TiB")
        #expect(keys["store.retention.daily"]?.default == "forever")
        #expect(keys["fresh_for.heart_rate"]?.default == "30m")
        #expect(keys["alerts.count.heart_rate"]?.kind == "whole number, 1 to 100")
        #expect(keys["home_assistant.discovery"]?.kind == "one of device, component, off")
        #expect(keys["plugins.tcp.listen"]?.default == "127.0.0.1:7879")
        #expect(keys["transport (tcp).port"]?.default == KeyDescription.required)
        #expect(keys["transport (exec).limits.memory"]?.default == KeyDescription.none)
        #expect(keys["options (simulator).live_interval"]?.kind == "duration, 10ms to 1h, or off")
        #expect(!keys.values.contains { $0.kind == "value" && $0.about.isEmpty })
    }

    @Test func `prints keys and limits in Markdown`() {
        let text = reference.text
        #expect(text.contains("- `offline_after`: duration, 1m to 365d. Default: 1d. The silence after which"))
        let payload = "- payload of a command: 256KiB. At it: `too_large`. Why: a whole configuration is 2 KiB.\n"
        #expect(text.contains(payload))
        #expect(text.contains("## Limits: The listener (web)\n\n- a document: 20MiB. At it: 413."))
    }
}

extension ConfigurationValue {
    fileprivate var text: String? {
        if case .scalar(let text, _) = content { text } else { nil }
    }
}
