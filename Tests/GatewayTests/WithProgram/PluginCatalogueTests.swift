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

    /// A sample is either a whole `devices:` list or entries for one.
    @Test(arguments: BundledPlugins.all.map { $0.name })
    func `has samples that pass the check as they are, with the secrets and the recording that they name`(name: String)
        throws
    {
        let catalogue = try PluginCatalogue(BundledPlugins.all)
        let sample = try #require(catalogue.plugin(named: name)).sample
        let isWhole = sample.split(separator: "\n").contains("devices:")
        let text = "mqtt: {url: mqtt://127.0.0.1}\n" + (isWhole ? "" : "devices:\n") + sample
        let secrets = ["PHONE_TOKEN": "a", "ANNAS_PHONE": "b", "BENS_PHONE": "c", "ANNAS_SCRIPT": "d"]
        let loader = ConfigurationLoader(plugins: catalogue, environment: secrets)
        try withFolder { folder in
            try write("{}\n", to: "band.recording", in: folder)
            #expect(try loader.load(text: text, directory: folder).devices.count > 0)
        }
    }
}
