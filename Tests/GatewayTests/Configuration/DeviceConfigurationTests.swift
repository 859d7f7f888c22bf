import Engines
import Gateway
import GatewayKit
import Testing
import Vitals

@Suite struct DeviceConfigurationTests {
    private static let head = "mqtt: {url: mqtt://127.0.0.1}\n"

    @Test func `reads a device with everything`() throws {
        let device = try #require(
            try load(
                Self.head + """
                    sync: {every: 1h, first: all}
                    devices:
                      - id: ring-1
                        name: Anna's ring
                        person: anna
                        people: {1: anna, 2: ben}
                        driver: ring
                        options: {size: 12}
                        transport: {type: radio, channel: 3}
                        offline_after: 2d
                        fresh_for: {heart_rate: 5m, stress: forever}
                        sync: {first: 7d, overlap: 1h, acknowledge: false}
                    """
            ).devices.first)
        #expect(
            device.info
                == DeviceInfo(
                    id: try #require(DeviceID("ring-1")), name: "Anna's ring", person: "anna",
                    people: [1: "anna", 2: "ben"], driver: "ring", transport: "radio",
                    freshness: [
                        .heartRate: .minutes(5), .bloodOxygen: .hours(24), .temperature: .hours(24),
                        .heartRateVariability: .hours(24), .respiratoryRate: .hours(24), .skinTemperature: .hours(24),
                        .bloodGlucose: .hours(1), .noiseExposure: .hours(24),
                    ]))
        #expect((device.driver as? RingDriver)?.size == 12)
        #expect((device.transport as? RadioTransport)?.channel == 3)
        #expect(device.policy.offlineAfter == .days(2))
        #expect(device.policy.freshness[.heartRate] == .minutes(5))
        #expect(device.policy.freshness[.stress] == nil)
        #expect(device.policy.freshness[.temperature] == .hours(24))
        #expect(
            device.policy.sync
                == SyncPolicy(first: .days(7), every: .hours(1), overlap: .hours(1), acknowledges: false))
    }

    @Test func `takes samples of a device from a local day on, if it has one`() throws {
        let text =
            Self.head
            + "gateway: {timezone: Europe/Berlin}\ndevices: [{id: a, driver: toy, from: DAY}, {id: b, driver: toy}]"
        let devices = try load(text.replacing("DAY", with: "2026-05-14")).devices
        #expect(devices.map(\.policy.from) == [Timestamp(seconds: 1_778_709_600), nil])
        let other = try load(text.replacing("DAY", with: "2026-05-15")).devices
        #expect(devices.first?.fingerprint != other.first?.fingerprint)
        #expect(devices.last?.fingerprint == other.last?.fingerprint)
        #expect(issues(text.replacing("DAY", with: "yesterday")).first?.contains("A date is needed here") == true)
    }

    @Test func `gives a device the gateway's defaults and its own name`() throws {
        let device = try #require(
            try load(
                Self.head + """
                    sync: {first: all}
                    offline_after: 3h
                    fresh_for: {steps: 10m}
                    alerts: {cooldown: 1h}
                    devices: [{id: toy, driver: toy}]
                    """
            ).devices.first)
        #expect(device.info.name == "toy")
        #expect(device.info.transport == nil)
        #expect(device.transport == nil)
        #expect(device.policy.sync.first == nil)
        #expect(device.policy.offlineAfter == .hours(3))
        #expect(device.policy.freshness[.steps] == .minutes(10))
        #expect(device.policy.freshness[.heartRate] == .minutes(30))
        #expect(device.policy.alerts.cooldown == .hours(1))
    }

    @Test(arguments: [
        ("driver: toy", "3: devices[0]: id is missing"),
        ("id: Ring, driver: toy", "3: devices[0].id: An id has 1 to 64"),
        ("id: gateway, driver: toy", "3: devices[0].id: gateway is the gateway's own place"),
        ("id: a", "3: devices[0]: driver is missing"),
        (
            "id: a, driver: rnig",
            "3: devices[0].driver: There is no driver rnig. Did you mean ring? Known here: ring, toy."
        ),
        ("id: a, driver: toy, transport: {type: pipe}", "3: devices[0].transport: The driver toy needs no transport"),
        ("id: a, driver: ring", "3: devices[0].driver: The driver ring needs a transport"),
        ("id: a, driver: ring, transport: {}", "3: devices[0].transport: type is missing"),
        (
            "id: a, driver: ring, transport: {type: tin-can, to: b}",
            "3: devices[0].transport.type: There is no transport tin-can. Fitting ones: radio."
        ),
        (
            "id: a, driver: ring, transport: {type: pipe}",
            "3: devices[0].transport.type: The transport pipe carries bytes, but the driver ring needs gatt. Fitting ones: radio."
        ),
        (
            "id: a, driver: ring, transport: {type: radio, channel: 10}",
            "3: devices[0].transport.channel: A whole number from 1 to 9"
        ),
        (
            "id: a, driver: ring, transport: {type: radio, chanel: 1}",
            "3: devices[0].transport.chanel: There is no such key. Did you mean channel?"
        ),
        (
            "id: a, driver: ring, transport: {type: radio}, options: {size: x}",
            "3: devices[0].options.size: A whole number from 1 to 20"
        ),
        ("id: a, driver: toy, options: {size: 1}", "3: devices[0].options.size: There is no such key."),
        ("id: a, driver: toy, people: {anna: 1}", "3: devices[0].people.anna: A user slot is a number"),
        ("id: a, driver: toy, persons: [{name: anna}], person: ben", "3: devices[0].person: persons has all"),
        ("id: a, driver: toy, persons: [{slot: 1}]", "3: devices[0].persons[0]: name is missing"),
        (
            "id: a, driver: toy, persons: [{name: a}, {name: a, slot: 1}]",
            "3: devices[0].persons[1].name: a is there twice"
        ),
        (
            "id: a, driver: toy, persons: [{name: a, slot: 1}, {name: b, slot: 1}]",
            "3: devices[0].persons[1].slot: a has the same slot"
        ),
        (
            "id: a, driver: toy, persons: [{name: a, weight: 62lb}]",
            "3: devices[0].persons[0].weight: A value is needed here, such as 62kg"
        ),
        ("id: a, driver: toy, persons: []", "3: devices[0].persons: A person is needed here"),
        ("id: a, driver: toy, guests: drop", "3: devices[0].guests: guests needs persons"),
        ("id: a, driver: toy, name: \"two\\nlines\"", "3: devices[0].name: One line of at most 128"),
        ("id: a, driver: toy, fresh_for: {pulse: 1m}", "3: devices[0].fresh_for.pulse: There is no such key."),
        ("id: a, driver: toy, offline_after: 1s", "3: devices[0].offline_after: A duration from 1m to 365d"),
        ("id: a, driver: toy, sync: {first: 1}", "3: devices[0].sync.first: A duration from 1h to 36500d, or all"),
        ("id: a, driver: toy, colour: red", "3: devices[0].colour: There is no such key."),
    ])
    func `says what is wrong with a device, and only that`(entry: String, issue: String) {
        let found = issues(Self.head + "devices:\n  - {\(entry)}\n")
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix(issue) == true, "\(found)")
    }

    @Test func `refuses an id that occurs twice`() {
        let found = issues(
            Self.head + "devices:\n  - {id: a, driver: toy}\n  - {id: b, driver: toy}\n  - {id: a, driver: toy}\n")
        #expect(found == ["5: devices[2].id: Line 3 has the id a already. Give each device its own."])
    }

    @Test(arguments: [("a, driver: toy", "a, driver: none"), ("a, driver: none", "a, driver: toy"), ("a", "a")])
    func `names an id that occurs twice whatever else is wrong with its entries`(first: String, second: String) {
        let found = issues(Self.head + "devices:\n  - {id: \(first)}\n  - {id: \(second)}\n")
        #expect(found.count > 1)
        #expect(found.contains("4: devices[1].id: Line 3 has the id a already. Give each device its own."), "\(found)")
    }

    @Test func `refuses an address that another device of the transport has, in whatever notation`() throws {
        func text(_ address: String) -> String {
            func device(_ id: String, _ address: String) -> String {
                "  - {id: \(id), driver: ring, transport: {type: radio, address: \(address)}}\n"
            }
            return Self.head + "devices:\n" + device("a", "AB-1") + device("b", address)
                + "  - {id: c, driver: ring, transport: {type: radio}}\n"
                + "  - {id: d, driver: ring, transport: {type: radio}}\n"
        }
        for same in ["AB-1", "ab-1"] {
            #expect(
                issues(text(same)) == [
                    "4: devices[1].transport: The address AB-1 is that of a already. Give each device its own."
                ])
        }
        #expect(try load(text("AB-2")).devices.count == 4)
    }

    @Test func `takes ten thousand devices and not one more`() throws {
        func text(_ count: Int) -> String {
            Self.head + "devices:\n" + (0..<count).map { "  - {id: d\($0), driver: toy}\n" }.joined()
        }
        #expect(try load(text(ConfigurationLimits.devices)).devices.count == 10_000)
        #expect(
            issues(text(ConfigurationLimits.devices + 1)) == [
                "2: devices: 10001 entries are too many; at most 10000 are taken."
            ])
    }

    @Test func `changes its fingerprint with what concerns it, and with nothing else`() throws {
        func fingerprint(_ text: String) throws -> Int { try #require(try load(text).devices.last).fingerprint }
        let device = "{id: a, driver: toy, name: A}"
        let before = try fingerprint(Self.head + "devices: [\(device)]\n")
        #expect(
            try fingerprint("\n\n# later\n" + Self.head + "devices:\n  - {id: b, driver: toy}\n  - \(device)\n")
                == before)
        #expect(try fingerprint(Self.head + "devices: [{id: a, driver: toy, name: B}]\n") != before)
        for defaults in ["sync: {every: 1h}", "alerts: {count: 3}", "fresh_for: {heart_rate: 5m}", "offline_after: 2h"]
        {
            #expect(try fingerprint(Self.head + "\(defaults)\ndevices: [\(device)]\n") != before, "\(defaults)")
        }
        for entry in ["people: {1: anna}", "person: anna", "alerts: {cooldown: 1h}"] {
            #expect(
                try fingerprint(Self.head + "devices: [{id: a, driver: toy, name: A, \(entry)}]\n") != before,
                "\(entry)")
        }
        #expect(try fingerprint(Self.head + "gateway: {timezone: Asia/Tokyo}\ndevices: [\(device)]\n") != before)
    }
}
