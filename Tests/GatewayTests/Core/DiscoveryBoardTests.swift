import Contract
import Engines
import HomeAssistant
import Testing
import Vitals

@testable import Gateway

/// What is announced, and in which order, where an earlier run announced it in another way.
@Suite struct DiscoveryBoardTests {
    static func id(_ text: String) throws -> DeviceID { try #require(DeviceID(text)) }

    /// A board with a cuff that is known.
    struct Rig {
        let discovery: Discovery
        let states = StateBoard(wakeup: Wakeup())
        let board: DiscoveryBoard
        let cuff: DeviceInfo

        init(_ mode: DiscoveryOptions.Mode) throws {
            discovery = try Self.discovery(mode)
            board = DiscoveryBoard(board: states, settings: DiscoverySettings(discovery))
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

        /// What an earlier run announced in a mode.
        func leave(_ mode: DiscoveryOptions.Mode, of device: DeviceInfo) throws -> [String] {
            let topics = try Self.discovery(mode).messages(devices: [device]).map(\.topic)
            for topic in topics { board.found(topic) }
            return topics
        }

        /// What was put since the last time: `+` announces, `~` migrates, `-` empties.
        func published() -> [String] {
            var lines: [String] = []
            while let entry = states.next() {
                guard case .message(let message) = entry else { continue }
                let sign = message.payload.isEmpty ? "-" : message.isRetained ? "+" : "~"
                lines.append(sign + message.topic)
            }
            return lines
        }

        func announced() -> [String] { discovery.messages(devices: [cuff]).map { "+" + $0.topic } }
    }

    @Test(arguments: [DiscoveryOptions.Mode.device, .component])
    func `announces nothing before it can know what an earlier run left, and leaves what is true`(
        mode: DiscoveryOptions.Mode
    ) throws {
        let rig = try Rig(mode)
        rig.board.changed(rig.cuff)
        rig.board.connected()
        _ = try rig.leave(mode, of: rig.cuff)
        rig.board.publishAll()
        #expect(rig.published() == [])
        #expect(!rig.board.migrate(devices: [rig.cuff.id]))
        rig.board.announceDue()
        #expect(rig.published() == rig.announced())
        rig.board.emptyOutdated()
        #expect(rig.published() == [])
        rig.board.connected()
        #expect(rig.published() == rig.announced())
    }

    @Test(arguments: [(DiscoveryOptions.Mode.device, DiscoveryOptions.Mode.component), (.component, .device)])
    func `lets go of what was announced in the other way and empties it before it announces`(
        mode: DiscoveryOptions.Mode, other: DiscoveryOptions.Mode
    ) throws {
        let rig = try Rig(mode)
        rig.board.changed(rig.cuff)
        rig.board.connected()
        let left = try rig.leave(other, of: rig.cuff).sorted()
        #expect(rig.board.migrate(devices: [rig.cuff.id]))
        #expect(rig.published() == left.map { "~" + $0 })
        rig.board.emptyMigrated()
        #expect(rig.published() == left.map { "-" + $0 })
        rig.board.announceDue()
        #expect(rig.published() == rig.announced())
        rig.board.emptyMigrated()
        rig.board.emptyOutdated()
        #expect(rig.published() == [])
    }

    @Test func `leaves what stands about a device that is not known yet, until it is`() throws {
        let rig = try Rig(.component)
        rig.board.connected()
        let left = try rig.leave(.device, of: rig.cuff)
        #expect(rig.board.migrate(devices: [rig.cuff.id]))  // the gateway's own
        rig.board.emptyMigrated()
        rig.board.announceDue()
        rig.board.emptyOutdated()
        #expect(!rig.published().contains { $0.contains("cuff") })
        rig.board.changed(rig.cuff)
        rig.board.announceDue()
        #expect(!rig.published().contains { $0.contains("cuff") })
        #expect(rig.board.migrate(devices: [rig.cuff.id]))
        #expect(rig.published() == ["~" + (try #require(left.last))])
        rig.board.emptyMigrated()
        #expect(rig.published() == ["-" + (try #require(left.last))])
        rig.board.announceDue()
        #expect(rig.published() == rig.announced())
    }

    @Test func `remembers a bounded number of topics of an earlier run`() throws {
        let rig = try Rig(.device)
        for number in 0..<DiscoveryBoard.maximumLeftovers + 10 {
            rig.board.found("homeassistant/sensor/vitals2mqtt_home_old/\(number)/config")
        }
        rig.board.connected()
        #expect(!rig.board.migrate(devices: []))
        #expect(rig.published().filter { $0.hasPrefix("-") }.count == DiscoveryBoard.maximumLeftovers)
    }

    @Test func `empties what stands about a device that is not configured any more`() throws {
        let rig = try Rig(.component)
        rig.board.connected()
        let topic = try #require(try rig.leave(.device, of: rig.cuff).last)
        _ = rig.board.migrate(devices: [])
        let published = rig.published()
        #expect(published.contains("-" + topic))
        #expect(!published.contains("~" + topic))
    }

    @Test(arguments: [DiscoveryOptions.Mode.device, .component])
    func `empties all that an earlier run announced where discovery is off now, also of a device that is away`(
        other: DiscoveryOptions.Mode
    ) throws {
        let rig = try Rig(.off)
        let settings = DiscoverySettings(rig.discovery)
        #expect(settings.filters == rig.discovery.sweepFilters)
        #expect(settings.prefix == nil)
        rig.board.connected()
        let left = try rig.leave(other, of: rig.cuff).sorted()
        #expect(left.allSatisfy { settings.covers($0) })
        #expect(!rig.board.migrate(devices: [rig.cuff.id]))
        #expect(rig.published() == left.map { "-" + $0 })
        rig.board.changed(rig.cuff)
        rig.board.announceDue()
        rig.board.emptyOutdated()
        #expect(rig.published() == [])
    }

    @Test func `empties a removed device's states only after Home Assistant could let go of its entities`() throws {
        let rig = try Rig(.device)
        rig.board.changed(rig.cuff)
        rig.board.connected()
        #expect(!rig.board.migrate(devices: [rig.cuff.id]))
        rig.board.announceDue()
        _ = rig.published()
        rig.board.removed(rig.cuff.id, topics: ["info", "config"])
        #expect(rig.published() == ["-homeassistant/device/vitals2mqtt_home_cuff/config"])
        rig.board.spare(["info"])
        rig.board.emptyOutdated()
        #expect(rig.published() == ["-config"])
    }

    @Test func `empties nothing and announces nothing before the first connection`() throws {
        let rig = try Rig(.device)
        rig.board.changed(rig.cuff)
        rig.board.removed(try Self.id("old"), topics: ["old/info"])
        #expect(!rig.board.migrate(devices: [rig.cuff.id]))
        rig.board.announceDue()
        rig.board.emptyOutdated()
        #expect(rig.published() == [])
        rig.board.connected()
        #expect(!rig.board.migrate(devices: [rig.cuff.id]))
        rig.board.announceDue()
        #expect(rig.published() == rig.announced())
        rig.board.emptyOutdated()
        #expect(rig.published() == ["-old/info"])
    }
}
