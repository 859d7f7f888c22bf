import BundledPlugins
import Contract
import Foundation
import GatewayKit
import Logging
import MQTT
import TestSupport
import Testing
import Vitals

@testable import Delivery
@testable import Gateway

/// Devices that are made of the topics of others, as files.
@Suite struct DeviceMakerTests {
    private static let template = """
        mqtt: {url: mqtt://127.0.0.1}
        devices_from: devices.d
        devices:
          - id: beds
            name: Beds
            person: anna
            driver: mqtt-values
            offline_after: 7d
            options:
              each_device: true
              except: [porch]
              topics: [{topic: "zig/{device}", values: [{metric: weight, path: "a.b", when: {user: "7"}}]}]

        """
    private static let weight = #"{"user":"7","a":{"b":72}}"#

    /// A configuration with its folder, and what makes its devices.
    private struct Place {
        let path: String
        let loader: ConfigurationLoader
        let log: LogRecorder
        let settings: CoreSettings
        let maker: DeviceMaker

        var folder: URL { URL(filePath: path).deletingLastPathComponent().appending(path: "devices.d") }

        /// Applies what the folder has now.
        func follow() throws { maker.follow(try loader.load(path)) }

        func receive(_ part: String, _ payload: String = DeviceMakerTests.weight) {
            let message = InboundMessage(topic: "zig/\(part)", payload: Array(payload.utf8))
            _ = settings.documents.receive(message, at: Timestamp(seconds: 1_767_225_600))
        }

        /// The files of devices.
        func names() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".yaml") }.sorted()
        }

        /// The messages of a level, with their parts.
        func said(_ level: Logger.Level) -> [String] {
            log.entries.filter { $0.level == level }.map { "\($0.metadata["part"] ?? ""): \($0.message)" }
        }
    }

    /// Runs `body` with these files in the folder.
    private func with(
        _ files: [String: String] = [:], limit: Int = CapturedDevices.maximum, _ body: (Place) throws -> Void
    ) throws {
        try withFolder { root in
            let folder = "\(root)/devices.d"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            for (name, text) in files { try write(text, to: name, in: folder) }
            let id = try #require(DeviceID("home"))
            let log = LogRecorder()
            let settings = CoreSettings(
                gateway: id.text, version: "0", topics: ContractTopics(gateway: id),
                calendar: LocalCalendar(timeZone: .gmt), clock: .system, logger: log.logger)
            let place = Place(
                path: try write(Self.template, to: "c.yaml", in: root),
                loader: ConfigurationLoader(plugins: try PluginCatalogue(BundledPlugins.all), environment: [:]),
                log: log, settings: settings, maker: DeviceMaker(settings, limit: limit))
            try place.follow()
            try body(place)
        }
    }

    @Test func `each part that sends a value becomes a device as its template is, but nobody's`() throws {
        try with { place in
            let configuration = try place.loader.load(place.path)
            #expect(configuration.devices.isEmpty)
            #expect(configuration.warnings.map(\.path) == ["devices[0].person"])
            place.receive("Bed Left")
            place.receive("lamp", #"{"state":"ON"}"#)
            place.receive("porch")
            #expect(place.maker.makeDevices())
            #expect(try place.names() == ["bed-left.yaml"])
            #expect(place.said(.notice) == ["Bed Left: A device is made for a part of a topic."])
            // What has a device soon is kept until then.
            #expect(place.settings.documents.held.map(\.message.topic) == ["zig/Bed Left"])
            let text = try String(contentsOf: place.folder.appending(path: "bed-left.yaml"), encoding: .utf8)
            #expect(text.contains("id: bed-left\nname: \"Bed Left\"\ndriver: mqtt-values\n"), "\(text)")
            for line in ["offline_after: \"7d\"", "device: \"Bed Left\"", "user: \"7\""] {
                #expect(text.contains(line), "\(text)")
            }
            #expect(!text.contains("anna") && !text.contains("porch") && !text.contains("each_device"), "\(text)")
            let device = try #require(try place.loader.load(place.path).devices.first)
            let own = TopicFilter("zig/Bed Left")
            #expect(device.messages?.topics == [MessageTopic(subscription: TopicFilter("zig/+"), own: own)])
            // Not a second time, whether the file has been read or not.
            #expect(place.maker.makeDevices())
            try place.follow()
            place.receive("Bed Left")
            #expect(place.maker.makeDevices())
            #expect(try place.names() == ["bed-left.yaml"])
        }
    }

    @Test func `the devices that are there count, and one too many is named once`() throws {
        let mine =
            "{id: mine, driver: mqtt-values, options: {device: x, topics: [{topic: \"zig/{device}\", values: [{metric: weight}]}]}}"
        try with(["mine.yaml": mine], limit: 2) { place in
            for _ in 0..<2 {
                place.receive("a")
                place.receive("b")
                #expect(place.maker.makeDevices())
            }
            let names = try place.names()
            #expect(names == ["a.yaml", "mine.yaml"])
            let few = "b: A part of a topic gets no device, since there are too many; remove one, or give it an entry."
            #expect(place.said(.notice) == ["a: A device is made for a part of a topic.", few])
        }
    }

    @Test func `a device that was removed is not made again while the gateway runs`() throws {
        try with { place in
            place.receive("a")
            #expect(place.maker.makeDevices())
            try place.follow()
            _ = try DeviceFiles(of: place.path, loader: place.loader).remove("a")
            try place.follow()
            place.receive("a")
            #expect(place.maker.makeDevices())
            #expect(try place.names().isEmpty)
            #expect(place.said(.notice).last?.hasPrefix("a: A removed device still sends;") == true)
        }
    }

    @Test func `a device that cannot be written is tried again, after the others`() throws {
        try with(["a.yaml": "id: other\ndriver: simulator\n"]) { place in
            for part in ["a", "b"] { place.receive(part) }
            #expect(!place.maker.makeDevices())
            #expect(!place.maker.makeDevices())
            #expect(try place.names() == ["a.yaml", "b.yaml"])
            #expect(place.said(.error) == ["a: The device of a part of a topic cannot be written; it is tried again."])
            try FileManager.default.removeItem(at: place.folder.appending(path: "a.yaml"))
            #expect(place.maker.makeDevices())
            #expect(try place.loader.load(place.path).devices.map(\.info.id.text) == ["a", "b"])
        }
    }

    @Test func `two entries that would make devices of the same messages are refused, and what to do is said`() throws {
        try with { place in
            func load(
                _ topic: String, beside first: String = "zig/{device}"
            ) throws -> (errors: [String], warnings: [String]) {
                let second = """
                      - id: others
                        driver: mqtt-values
                        options: {each_device: true, topics: [{topic: "\(topic)", values: [{metric: stress, path: s}]}]}

                    """
                let root = place.folder.deletingLastPathComponent().path
                let text = Self.template.replacing("zig/{device}", with: first) + second
                let path = try write(text, to: "second.yaml", in: root)
                do throws(ConfigurationError) {
                    let warnings = try place.loader.load(path).warnings
                    return ([], warnings.filter { $0.path == "devices[1].options" }.map(\.message))
                } catch {
                    #expect(error.issues.map(\.path) == ["devices[1].options"])
                    return (error.issues.map(\.message), [])
                }
            }
            for topic in ["zig/{device}", "zig/{device}/#"] {
                let found = try load(topic)
                #expect(found.errors.count == 1, "\(topic)")
                #expect(found.errors.first?.contains("Write both topics, with their values, into one entry.") == true)
            }
            // The device would be another one.
            let rare = try load("zig/+/{device}", beside: "zig/{device}/#")
            #expect(rare.errors.isEmpty && rare.warnings.count == 1)
            #expect(rare.warnings.first?.contains("narrower") == true)
            let apart = try load("zag/{device}")
            #expect(apart.errors.isEmpty && apart.warnings.isEmpty)
        }
    }

    @Test func `without a folder it says what to do`() throws {
        let loader = ConfigurationLoader(plugins: try PluginCatalogue(BundledPlugins.all), environment: [:])
        let text = Self.template.replacing("devices_from: devices.d\n", with: "")
        do throws(ConfigurationError) {
            _ = try loader.load(text: text, directory: "/nowhere")
            Issue.record("no error")
        } catch {
            #expect(error.issues.map(\.path) == ["devices[0].options"])
            #expect(error.issues.first?.message.hasSuffix("add the line: devices_from: devices.d") == true)
        }
    }
}
