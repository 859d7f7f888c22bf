import BundledPlugins
import Gateway
import GatewayKit
import Synchronization
import Testing
import Vitals

/// Entries of new devices, by arguments and by answers.
@Suite struct AddToolTests {
    private static let strap = device("A4:C1:38:00:11:22", "Strap 7", [.init("gatt-health", by: .services)])
    private static let ring = device(
        "30:35:47:00:11:22", "R02_1122", [.init("colmi-ring", by: .name), .init("gatt-health", by: .name)])
    private static let lamp = device("10:00:00:00:00:01", "Lamp", [])
    private static let silent = device("10:00:00:00:00:02", nil, [])

    private static func device(_ address: String, _ name: String?, _ claims: [ScanReport.Claim]) -> ScanReport.Device {
        ScanReport.Device(
            address: address, name: name, services: [], signalStrength: -61, isConnected: false, device: nil,
            claims: claims, transport: [.init("type", "bluez"), .init("address", address)], note: nil)
    }

    /// A person who gives these answers, and the questions.
    private final class Person: Sendable {
        let questions = Mutex<[String]>([])
        private let answers: Mutex<[String]>

        init(_ answers: [String]) { self.answers = Mutex(answers) }

        func ask(_ question: String) -> String? {
            questions.withLock { $0.append(question) }
            return answers.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        }
    }

    private static func entry(
        _ answers: [String]? = nil, taken: [String] = [], _ change: (inout AddTool.Wishes) -> Void = { _ in }
    ) async throws -> String {
        let tool = AddTool(
            plugins: try PluginCatalogue(BundledPlugins.all), beside: taken.compactMap { DeviceID($0) },
            directory: "/nowhere")
        var wishes = AddTool.Wishes()
        change(&wishes)
        let person = answers.map { Person($0) }
        let device = try await tool.run(wishes, asking: person.map { person in { person.ask($0) } }) {
            ScanReport(devices: [strap, ring, lamp, silent])
        }
        return device.entry
    }

    private static func failure(
        _ answers: [String]? = nil, taken: [String] = [], _ change: (inout AddTool.Wishes) -> Void = { _ in }
    ) async throws -> String {
        do {
            return "no failure: " + (try await entry(answers, taken: taken, change))
        } catch let error as ToolFailure { return error.description }
    }

    @Test func `a device that one driver recognises needs no more than its address`() async throws {
        let entry = try await Self.entry { $0.device = "a4:c1:38:00:11:22" }
        #expect(
            entry == """
                  - id: strap-7
                    name: "Strap 7"
                    driver: gatt-health
                    transport:
                      type: bluez
                      address: A4:C1:38:00:11:22

                """)
    }

    @Test func `arguments take the place of what was found, and have their types`() async throws {
        let entry = try await Self.entry { wishes in
            wishes.device = "R02_1122"
            (wishes.id, wishes.name, wishes.driver) = ("anna-ring", "Anna's ring", "colmi-ring")
            wishes.transport = [.init("connection", "periodic"), .init("connect_every", "15m")]
            wishes.options = [.init("utc_offset", "60")]
        }
        #expect(
            entry == """
                  - id: anna-ring
                    name: "Anna's ring"
                    driver: colmi-ring
                    transport:
                      type: bluez
                      address: "30:35:47:00:11:22"
                      connection: periodic
                      connect_every: "15m"
                    options:
                      utc_offset: 60

                """)
    }

    @Test func `a person picks the device and the driver, and takes or changes the suggestions`() async throws {
        let entry = try await Self.entry(["7", "2", "colmi-ring", "", "My ring"])
        #expect(entry.contains("id: r02-1122\n    name: \"My ring\"\n    driver: colmi-ring\n"))
        let lamp = try await Self.entry(["3", "none", "o2ring", "light", ""])
        #expect(lamp.contains("id: light\n    name: Lamp\n    driver: o2ring\n"))
    }

    @Test(
        arguments: [
            (["", "", "just_works"], "just_works"), (["", "", "sometimes", "ask"], "ask"), (["", "", "none"], nil),
            (["", "", ""], nil), (["", ""], nil),
        ] as [([String], String?)])
    func `a person is asked about pairing where devices of the driver may need it`(
        answers: [String], pairing: String?
    ) async throws {
        let entry = try await Self.entry(answers) { $0.device = "Strap 7" }
        let last = pairing.map { "      pairing: \($0)\n" } ?? ""
        #expect(entry.hasSuffix("      address: A4:C1:38:00:11:22\n" + last))
    }

    @Test(
        arguments: [
            (0x1808, "Meter"), (0x1809, "Thermometer"), (0x180d, "Strap"), (0x1810, "Cuff"), (0x181d, "Scale"),
            (0x1822, "Oximeter"),
        ] as [(UInt16, String)])
    func `a device with a service of health is recognised by it, and gets its user slot and its pairing`(
        service: UInt16, name: String
    ) async throws {
        let address = "A4:C1:38:00:11:22"
        let plugins = try PluginCatalogue(BundledPlugins.all)
        let found = NearbyDevice(
            address: address, name: name, services: [BluetoothUUID(service)], options: [.init("address", address)])
        let drivers = plugins.drivers.filter { $0.link == .gatt && $0.recognition.mark(of: found) == .commonService }
        #expect(drivers.map { $0.name } == ["gatt-health"])
        let tool = AddTool(plugins: plugins, beside: [], directory: "/nowhere")
        let person = Person(["", "", "ask"])
        var wishes = AddTool.Wishes()
        (wishes.device, wishes.options) = (name, [.init("user", "1")])
        let device = try await tool.run(wishes, asking: { person.ask($0) }) {
            let claims = drivers.map { ScanReport.Claim($0.name, by: .services) }
            return ScanReport(devices: [Self.device(address, name, claims)])
        }
        #expect(
            device.entry == """
                  - id: \(name.lowercased())
                    name: \(name)
                    driver: gatt-health
                    transport:
                      type: bluez
                      address: \(address)
                      pairing: ask
                    options:
                      user: 1

                """)
        let questions = person.questions.withLock { $0 }
        #expect(questions.map { String($0.prefix { $0.isLetter }) } == ["Id", "Name", "Pairing"])
    }

    @Test func `nobody is asked about a pairing that is said, or that the driver does not need, or in a script`()
        async throws
    {
        let reported = try await Self.entry(["", "", "just_works"]) { wishes in
            (wishes.device, wishes.transport) = ("Strap 7", [.init("pairing", "ask")])
        }
        #expect(reported.hasSuffix("      pairing: ask\n"))
        let ring = try await Self.entry(["", "", "just_works"]) { wishes in
            (wishes.device, wishes.driver) = ("R02_1122", "colmi-ring")
        }
        #expect(!ring.contains("pairing"))
        let script = try await Self.entry { $0.device = "Strap 7" }
        #expect(!script.contains("pairing"))
        let failure = try await Self.failure(["", "", "1", "2", "3"]) { $0.device = "Strap 7" }
        #expect(failure == "No pairing was chosen.")
    }

    @Test func `what a person cannot distinguish is not offered`() async throws {
        let person = Person([])
        let tool = AddTool(plugins: try PluginCatalogue(BundledPlugins.all), beside: [], directory: "/nowhere")
        await #expect(throws: ToolFailure.self) {
            try await tool.run(AddTool.Wishes(), asking: { person.ask($0) }) {
                ScanReport(devices: [Self.strap, Self.silent])
            }
        }
        let question = try #require(person.questions.withLock { $0.first })
        #expect(question.contains("1  Strap 7  A4:C1:38:00:11:22, -61 dBm, for gatt-health\nWhich one, 1 to 1? "))
    }

    @Test func `an id that is taken gets a number, and one that was asked for is an error`() async throws {
        let entry = try await Self.entry(taken: ["strap-7", "strap-7-2"]) { $0.device = "Strap 7" }
        #expect(entry.hasPrefix("  - id: strap-7-3\n"))
        let failure = try await Self.failure(taken: ["band"]) { ($0.device, $0.id) = ("Strap 7", "band") }
        #expect(failure.contains("has the id band already. Give each device its own, or replace its file by --write"))
    }

    @Test func `a value in brackets is a list`() async throws {
        let program = try await Self.entry { wishes in
            (wishes.driver, wishes.id) = ("link", "band")
            wishes.transport = [.init("type", "exec"), .init("command", "[python3, \"my band.py\", --fast]")]
        }
        for line in ["command:\n", "- python3\n", "- \"my band.py\"\n", "- \"--fast\"\n"] {
            #expect(program.contains(line), "\(program)")
        }
        let phone = try await Self.entry { wishes in
            (wishes.driver, wishes.id) = ("health-auto-export", "m1")
            wishes.transport = [.init("type", "mqtt"), .init("topic", "phones/m1")]
            wishes.options = [.init("metrics", "[heart_rate, steps]")]
        }
        #expect(phone.contains("metrics:\n") && phone.contains("- heart_rate\n") && phone.contains("- steps\n"))
    }

    @Test(arguments: [
        ("topic", "topic"), ("passkey", "passkey.file"), ("passkey.file", "passkey"), ("passkey.file", "passkey.file"),
    ])
    func `a key that is given twice is refused, with how a list is written`(first: String, second: String) async throws
    {
        for isOption in [false, true] {
            let failure = try await Self.failure { wishes in
                wishes.driver = "simulator"
                let keys = [ScanReport.Option(first, "a"), ScanReport.Option(second, "b")]
                if isOption { wishes.options = keys } else { wishes.transport = keys }
            }
            let argument = isOption ? "--option" : "--transport"
            let list = "Keep one; a list is one value: \(argument) '\(second)=[a, b]'."
            #expect(failure == "\(argument) \(second) occurs twice. \(list)")
        }
    }

    @Test func `a device that says no name has its id as its name`() async throws {
        let entry = try await Self.entry { ($0.driver, $0.id) = ("simulator", "anna-band") }
        #expect(entry.hasPrefix("  - id: anna-band\n    name: anna-band\n    driver: simulator\n"), "\(entry)")
    }

    @Test func `the entry is checked as a configuration is`() async throws {
        let failure = try await Self.failure { wishes in
            (wishes.device, wishes.id) = ("Strap 7", "Strap 7")
            wishes.transport = [.init("pairing", "sometimes"), .init("speed", "2")]
            wishes.options = [.init("passkey.file", "secret")]
        }
        for part in ["id: ", "transport.pairing: ", "transport.speed: ", "options.passkey: "] {
            #expect(failure.contains("\n  \(part)"), "\(failure)")
        }
        let secret = try await Self.failure { wishes in
            wishes.device = "Strap 7"
            wishes.transport = [.init("pairing", "passkey"), .init("passkey.file", "secret")]
        }
        #expect(secret.contains("/nowhere/secret"), "\(secret)")
    }

    @Test func `without a terminal, what is missing is named`() async throws {
        #expect(try await Self.failure().contains("--transport type="))
        #expect(try await Self.failure { $0.device = "Lamp" }.contains("--driver"))
        #expect(try await Self.failure { $0.device = "Phone" }.contains("not in reach"))
        #expect(try await Self.failure { ($0.device, $0.driver) = ("Lamp", "lamp") }.contains("Known here"))
        #expect(try await Self.failure([]).contains("No device was chosen"))
        #expect(try await Self.failure(["0", "x", "9"]).contains("No device was chosen"))
    }

    @Test func `several devices of one name are distinguished by address`() async throws {
        let tool = AddTool(plugins: try PluginCatalogue(BundledPlugins.all), beside: [], directory: "/nowhere")
        var wishes = AddTool.Wishes()
        wishes.device = "Strap 7"
        var other = Self.strap
        other.address = "A4:C1:38:00:11:33"
        do {
            _ = try await tool.run(wishes, asking: nil) { [other] in ScanReport(devices: [Self.strap, other]) }
            Issue.record("One was taken.")
        } catch let error as ToolFailure {
            #expect(error.description.contains("A4:C1:38:00:11:22, A4:C1:38:00:11:33"))
        }
    }

    @Test func `a device with another transport, or none, needs no scan`() async throws {
        let band = try await Self.entry { wishes in
            (wishes.driver, wishes.id) = ("link", "band")
            wishes.transport = [.init("type", "tcp"), .init("host", "band.local"), .init("port", "7200")]
        }
        #expect(band.contains("type: tcp\n      host: band.local\n      port: 7200\n"))
        let simulated = try await Self.entry { wishes in
            (wishes.driver, wishes.options) = ("simulator", [.init("model", "band")])
        }
        #expect(simulated.hasPrefix("  - id: simulator\n    name: simulator\n    driver: simulator\n    options:\n"))
    }
}
