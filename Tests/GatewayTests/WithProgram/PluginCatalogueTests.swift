import BundledPlugins
import Gateway
import GatewayKit
import Testing

@Suite struct PluginCatalogueTests {
    @Test func `finds plugins, drivers and transports by name`() throws {
        let catalogue = TestPlugin.catalogue
        #expect(catalogue.plugin(named: "test") == TestPlugin.self)
        #expect(catalogue.driver(named: "ring") == RingDriver.self)
        #expect(catalogue.driver(named: "pipe") == nil)
        #expect(catalogue.transport(named: "pipe") == PipeTransport.self)
        #expect(catalogue.transports(of: .gatt).map { $0.name } == ["radio"])
    }

    @Test func `refuses two of one name`() {
        enum Again: Plugin {
            static let name = "Again"
            static let summary = ""
            static let sample = ""
            static let drivers: [any DeviceDriver.Type] = [ToyDriver.self]
        }
        #expect(throws: PluginCatalogueError.duplicate("driver", "toy")) {
            try PluginCatalogue([TestPlugin.self, Again.self])
        }
        #expect(throws: PluginCatalogueError.duplicate("plugin", "Test")) {
            try PluginCatalogue([TestPlugin.self, TestPlugin.self])
        }
    }

    @Test func `puts the bundled plugins together`() throws {
        let catalogue = try PluginCatalogue(BundledPlugins.all)
        #expect(catalogue.driver(named: "link") != nil)
        #expect(catalogue.driver(named: "simulator") != nil)
        #expect(catalogue.transport(named: "exec") != nil)
        #expect(catalogue.transport(named: "tcp") != nil)
    }

    @Test func `says why this build has not what another one has`() throws {
        let reason = "This program was built without radio. Build it with --radio."
        let catalogue = try PluginCatalogue([TestPlugin.self], unavailable: ["bluez": reason])
        let device = "devices: [{id: a, driver: ring, transport: {type: bluez, address: b}}]\n"
        let error = #expect(throws: ConfigurationError.self) {
            try ConfigurationLoader(plugins: catalogue, environment: [:]).load(
                text: "mqtt: {url: mqtt://127.0.0.1}\n\(device)plugins: {bluez: {}}\n", directory: "/")
        }
        #expect(
            error?.issues.map(\.message) == [
                "There is no transport bluez. \(reason)",
                "There is no plugin bluez whose devices share anything. \(reason)",
            ])
    }

    @Test(arguments: [
        ("health-auto-export", ["annas-iphone", "carls-iphone"]), ("health-connect-webhook", ["bens-phone"]),
        ("mqtt", ["carls-iphone"]), ("link", ["band-1"]),
        ("Phones", ["annas-iphone", "bens-phone", "carls-iphone", "claras-sensor", "scale", "annas-script"]),
    ])
    func `of a driver or a transport the sample has the entries that use it, and of a plugin all`(
        name: String, ids: [String]
    ) throws {
        let plugin = try #require(try PluginCatalogue(BundledPlugins.all).plugin(having: name))
        let details = PluginCatalogue.details(of: plugin, for: name)
        #expect(details.matches(of: #/- id: ([a-z0-9-]+)\n/#).map { "\($0.1)" } == ids, "\(details)")
        #expect(details.hasSuffix("\n") && !details.contains("{env: "))
    }

    @Test func `a device of which a recording has nothing says why`() throws {
        let loader = ConfigurationLoader(plugins: try PluginCatalogue(BundledPlugins.all), environment: [:])
        let text = """
            mqtt: {url: mqtt://127.0.0.1}
            devices:
              - {id: a, driver: simulator}
              - {id: b, driver: health-auto-export, transport: {type: mqtt, topic: phones/b}}
              - {id: c, driver: link, transport: {type: tcp, host: 127.0.0.1, port: 7878}}
            """
        let devices = try loader.load(text: text, directory: "/nowhere").devices
        let reasons = ["its driver has no transport", "its transport mqtt carries documents", nil]
        #expect(devices.map(\.reasonWithoutRecording) == reasons)
    }

    @Test func `a sample without an entry of a driver is shown as a whole`() throws {
        let plugin = try #require(try PluginCatalogue(BundledPlugins.all).plugin(having: "tcp"))
        #expect(PluginCatalogue.details(of: plugin, for: "none") == PluginCatalogue.details(of: plugin, for: "TCP"))
    }

    /// A sample is either a whole `devices:` list or entries for one.
    @Test(arguments: BundledPlugins.all.map { $0.name })
    func `has samples that pass the check as they are, with the secrets and the recording that they name`(name: String)
        throws
    {
        let catalogue = try PluginCatalogue(BundledPlugins.all)
        let sample = try #require(catalogue.plugin(named: name)).sample
        let isWhole = sample.split(separator: "\n").contains("devices:")
        let text = "mqtt: {url: mqtt://127.0.0.1}\n" + (isWhole ? "" : "devices:\n") + sample
        let loader = ConfigurationLoader(plugins: catalogue, environment: [:])
        try withFolder { folder in
            for name in ["phone-1", "annas-iphone", "bens-phone", "claras-sensor", "annas-script"] {
                try write("\(name) of a test\n", to: "\(name).token", in: folder)
            }
            try write("{\"vitals2mqtt_recording\":1,\"began\":0}\n", to: "band.recording", in: folder)
            #expect(try loader.load(text: text, directory: folder).devices.count > 0)
        }
    }
}
