import Concurrency
import Contract
import Dispatch
import HomeAssistant
import MQTT
import Testing
import Vitals

@testable import Delivery

/// What is announced, and in which order, after an earlier run used another discovery mode.
@Suite struct DiscoveryPublisherTests {
    static func id(_ text: String) throws -> DeviceID { try #require(DeviceID(text)) }

    /// A publisher with a known cuff.
    struct Rig {
        let discovery: Discovery
        let states = RetainedStates(wakeup: Signal())
        let publisher: DiscoveryPublisher
        let cuff: DeviceInfo

        init(_ mode: DiscoveryOptions.Mode) throws {
            discovery = try Self.discovery(mode)
            publisher = DiscoveryPublisher(retained: states, settings: DiscoverySettings(discovery))
            cuff = DeviceInfo(
                id: try id("cuff"), name: "Cuff", driver: "toy", identity: DeviceIdentity(),
                capabilities: Capabilities([.bloodPressure: [.measure, .history]]))
            states.connect()
        }

        static func discovery(_ mode: DiscoveryOptions.Mode) throws -> Discovery {
            Discovery(
                options: DiscoveryOptions(mode: mode), topics: ContractTopics(gateway: try id("home")),
                origin: DiscoveryOrigin(version: "1", supportURL: ""))
        }

        /// Simulates the retained messages of an earlier run in another mode.
        func leave(_ mode: DiscoveryOptions.Mode, of device: DeviceInfo) throws -> [String] {
            let topics = try Self.discovery(mode).messages(devices: [DiscoveredDevice(device)]).map(\.topic)
            for topic in topics { publisher.found(topic) }
            return topics
        }

        /// The messages since the last call: `+` announces, `~` migrates, `-` clears.
        func published() -> [String] {
            var lines: [String] = []
            while let entry = states.next() {
                if case .stale(let topic) = entry { lines.append("-" + topic) }
                guard case .message(let message) = entry else { continue }
                let sign = message.payload.isEmpty ? "-" : message.isRetained ? "+" : "~"
                lines.append(sign + message.topic)
            }
            return lines
        }

        func announced() -> [String] { discovery.messages(devices: [DiscoveredDevice(cuff)]).map { "+" + $0.topic } }
    }

    @Test(arguments: [DiscoveryOptions.Mode.device, .component])
    func `announces nothing before it can know what an earlier run left, and leaves what is true`(
        mode: DiscoveryOptions.Mode
    ) throws {
        let rig = try Rig(mode)
        rig.publisher.changed(rig.cuff.id, .info(rig.cuff))
        rig.publisher.connected()
        _ = try rig.leave(mode, of: rig.cuff)
        rig.publisher.publishAll()
        #expect(rig.published() == [])
        #expect(!rig.publisher.migrate(devices: [rig.cuff.id]))
        rig.publisher.announceDue()
        #expect(rig.published() == rig.announced())
        rig.publisher.emptyOutdated()
        #expect(rig.published() == [])
        rig.publisher.connected()
        #expect(rig.published() == rig.announced())
    }

    @Test(arguments: [(DiscoveryOptions.Mode.device, DiscoveryOptions.Mode.component), (.component, .device)])
    func `lets go of what was announced in the other way and empties it before it announces`(
        mode: DiscoveryOptions.Mode, other: DiscoveryOptions.Mode
    ) throws {
        let rig = try Rig(mode)
        rig.publisher.changed(rig.cuff.id, .info(rig.cuff))
        rig.publisher.connected()
        let left = try rig.leave(other, of: rig.cuff).sorted()
        #expect(rig.publisher.migrate(devices: [rig.cuff.id]))
        #expect(rig.published() == left.map { "~" + $0 })
        rig.publisher.emptyMigrated()
        #expect(rig.published() == left.map { "-" + $0 })
        rig.publisher.announceDue()
        #expect(rig.published() == rig.announced())
        rig.publisher.emptyMigrated()
        rig.publisher.emptyOutdated()
        #expect(rig.published() == [])
    }

    @Test func `leaves what stands about a device that is not known yet, until it is`() throws {
        let rig = try Rig(.component)
        rig.publisher.connected()
        let left = try rig.leave(.device, of: rig.cuff)
        #expect(rig.publisher.migrate(devices: [rig.cuff.id]))  // the gateway's own
        rig.publisher.emptyMigrated()
        rig.publisher.announceDue()
        rig.publisher.emptyOutdated()
        #expect(!rig.published().contains { $0.contains("cuff") })
        rig.publisher.changed(rig.cuff.id, .info(rig.cuff))
        rig.publisher.announceDue()
        #expect(!rig.published().contains { $0.contains("cuff") })
        #expect(rig.publisher.migrate(devices: [rig.cuff.id]))
        #expect(rig.published() == ["~" + (try #require(left.last))])
        rig.publisher.emptyMigrated()
        #expect(rig.published() == ["-" + (try #require(left.last))])
        rig.publisher.announceDue()
        #expect(rig.published() == rig.announced())
    }

    @Test(arguments: [DiscoveryOptions.Mode.device, .component])
    func `clears what an earlier run announced, also of a device that is removed before it is announced again`(
        mode: DiscoveryOptions.Mode
    ) throws {
        let rig = try Rig(mode)
        rig.publisher.changed(rig.cuff.id, .info(rig.cuff))
        rig.publisher.connected()
        let left = try rig.leave(mode, of: rig.cuff).filter { $0.contains("cuff") }
        #expect(!left.isEmpty)
        #expect(!rig.publisher.migrate(devices: [rig.cuff.id]))
        rig.publisher.removed(rig.cuff.id, topics: [])
        rig.publisher.announceDue()
        _ = rig.publisher.migrate(devices: [])
        let published = rig.published()
        #expect(Set(published.filter { $0.hasPrefix("-") }) == Set(left.map { "-" + $0 }))
        #expect(!published.contains { $0.hasPrefix("+") && $0.contains("cuff") })
    }

    @Test func `a device that is removed while it is announced keeps no topic`() throws {
        for _ in 0..<200 {
            let rig = try Rig(.component)
            rig.publisher.changed(rig.cuff.id, .info(rig.cuff))
            rig.publisher.connected()
            rig.publisher.announceDue()
            _ = rig.published()
            let announced = Set(rig.announced().map { $0.dropFirst() }.filter { $0.contains("cuff") })
            // Two threads of their own: the one announces, the other removes.
            DispatchQueue.concurrentPerform(iterations: 2) { number in
                if number == 0 { rig.publisher.publishAll() } else { rig.publisher.removed(rig.cuff.id, topics: []) }
            }
            // The last word about each topic is that it is empty.
            var last: [Substring: Character] = [:]
            for line in rig.published() { last[line.dropFirst()] = line.first }
            #expect(announced.allSatisfy { last[$0] == "-" })
        }
    }

    @Test func `remembers a bounded number of topics of an earlier run`() throws {
        let rig = try Rig(.device)
        for number in 0..<DiscoveryPublisher.maximumStaleTopics + 10 {
            rig.publisher.found("homeassistant/sensor/vitals2mqtt_home_old/\(number)/config")
        }
        rig.publisher.connected()
        #expect(!rig.publisher.migrate(devices: []))
        #expect(rig.published().filter { $0.hasPrefix("-") }.count == DiscoveryPublisher.maximumStaleTopics)
    }

    @Test func `clears a bounded number of topics on one connection, and keeps none of them`() throws {
        let rig = try Rig(.device)
        rig.publisher.connected()
        func find(_ numbers: Range<Int>) -> Int {
            for number in numbers {
                rig.publisher.found("homeassistant/sensor/vitals2mqtt_home_old/\(number)/config")
            }
            _ = rig.publisher.migrate(devices: [])
            return rig.published().count { $0.hasPrefix("-") }
        }
        let most = DiscoveryPublisher.maximumStaleTopics
        #expect(find(0..<most / 2) == most / 2)
        #expect(find(most / 2..<most + 10) == most / 2)
        #expect(find(most + 10..<most + 20) == 0)
        // The broker sends again what it still has.
        rig.states.disconnect()
        rig.states.connect()
        rig.publisher.connected()
        #expect(rig.published() == [])
        #expect(find(most..<most + 20) == 20)
    }

    @Test func `ignores topics that are longer than any of its own`() throws {
        let rig = try Rig(.device)
        let topic = "homeassistant/sensor/vitals2mqtt_home_old/"
        let rest = DiscoveryPublisher.maximumStaleTopicBytes - topic.utf8.count
        let longest = topic + String(repeating: "x", count: rest)
        rig.publisher.found(longest)
        rig.publisher.found(longest + "x")
        rig.publisher.connected()
        _ = rig.publisher.migrate(devices: [])
        #expect(rig.published() == ["-" + longest])
    }

    @Test func `empties what stands about a device that is not configured any more`() throws {
        let rig = try Rig(.component)
        rig.publisher.connected()
        let topic = try #require(try rig.leave(.device, of: rig.cuff).last)
        _ = rig.publisher.migrate(devices: [])
        let published = rig.published()
        #expect(published.contains("-" + topic))
        #expect(!published.contains("~" + topic))
    }

    @Test(arguments: [DiscoveryOptions.Mode.device, .component])
    func `empties all that an earlier run announced where discovery is off now, also of an offline device`(
        other: DiscoveryOptions.Mode
    ) throws {
        let rig = try Rig(.off)
        let settings = DiscoverySettings(rig.discovery)
        #expect(settings.filters == rig.discovery.sweepFilters)
        #expect(settings.prefix == nil)
        rig.publisher.connected()
        let left = try rig.leave(other, of: rig.cuff).sorted()
        #expect(left.allSatisfy { settings.covers($0) })
        #expect(!rig.publisher.migrate(devices: [rig.cuff.id]))
        #expect(rig.published() == left.map { "-" + $0 })
        rig.publisher.changed(rig.cuff.id, .info(rig.cuff))
        rig.publisher.announceDue()
        rig.publisher.emptyOutdated()
        #expect(rig.published() == [])
    }

    @Test func `empties a removed device's states only after Home Assistant could let go of its entities`() throws {
        let rig = try Rig(.device)
        rig.publisher.changed(rig.cuff.id, .info(rig.cuff))
        rig.publisher.connected()
        #expect(!rig.publisher.migrate(devices: [rig.cuff.id]))
        rig.publisher.announceDue()
        _ = rig.published()
        rig.publisher.removed(rig.cuff.id, topics: ["info", "config"])
        #expect(rig.published() == ["-homeassistant/device/vitals2mqtt_home_cuff/config"])
        rig.publisher.spare(["info"])
        rig.publisher.emptyOutdated()
        #expect(rig.published() == ["-config"])
    }

    @Test func `announces again what a changed limit shows, and nothing where nothing is shown otherwise`() throws {
        let rig = try Rig(.component)
        rig.publisher.changed(rig.cuff.id, .info(rig.cuff))
        rig.publisher.connected()
        rig.publisher.announceDue()
        _ = rig.published()
        var settings = MonitorSettings.defaults(for: try #require(rig.cuff.capabilities))
        func report() {
            rig.publisher.changed(rig.cuff.id, .config(TwinState(desired: settings, updatedAt: Timestamp(seconds: 0))))
        }
        let level = "homeassistant/binary_sensor/vitals2mqtt_home_cuff/alert_blood_pressure_systolic_high/config"
        report()
        #expect(rig.published().contains("+" + level))
        settings[.bloodPressure, .scheduleInterval] = .number(60)
        report()
        #expect(rig.published() == [])
        settings[.bloodPressure, .upper(.systolic)] = .number(300)
        report()
        #expect(rig.published().contains("-" + level))
    }

    @Test func `empties nothing and announces nothing before the first connection`() throws {
        let rig = try Rig(.device)
        rig.publisher.changed(rig.cuff.id, .info(rig.cuff))
        rig.publisher.removed(try Self.id("old"), topics: ["old/info"])
        #expect(!rig.publisher.migrate(devices: [rig.cuff.id]))
        rig.publisher.announceDue()
        rig.publisher.emptyOutdated()
        #expect(rig.published() == [])
        rig.publisher.connected()
        #expect(!rig.publisher.migrate(devices: [rig.cuff.id]))
        rig.publisher.announceDue()
        #expect(rig.published() == rig.announced())
        rig.publisher.emptyOutdated()
        #expect(rig.published() == ["-old/info"])
    }
}
