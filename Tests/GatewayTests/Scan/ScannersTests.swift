import Concurrency
import Gateway
import GatewayKit
import GatewayTesting
import JSON
import Synchronization
import TestSupport
import Testing
import Vitals

/// Which plugins scan for devices, and who recognises what they find.
@Suite struct ScannersTests {
    private static let drivers: [any DeviceDriver.Type] = [StrapDriver.self, BandDriver.self, ToyDriver.self]

    private static func device(
        _ address: String, _ name: String? = nil, _ services: [String] = [], signal: Int? = nil
    ) -> NearbyDevice {
        NearbyDevice(
            address: address, name: name, services: services.compactMap { BluetoothUUID($0) }, signalStrength: signal,
            options: [.init("address", address)])
    }

    private static func answer(
        _ setups: [ServiceSetup], services: RunningServices = RunningServices(), kept: Set<String> = []
    ) async -> Answer {
        let scanners = Scanners()
        scanners.replace(with: setups, drivers: drivers)
        return await scanners.scan(for: .seconds(1), with: services) { kept.contains($0) }
    }

    private static func report(_ answer: Answer) throws -> ScanReport {
        guard case .nearby(let report)? = answer.data else { throw CancellationError() }
        return report
    }

    @Test func `a driver is named by services, its own before common ones, and then by the name`() async throws {
        let own = "14839ac4-7d7e-415c-9a42-167340cf2339"
        let found = [
            Self.device("1", "Lamp", ["fe0f"], signal: -30), Self.device("2", "Band 7"),
            Self.device("3", "Band 8", ["180d"]), Self.device("4", nil, ["180d", own], signal: -90),
            Self.device("5", "band 9"),
        ]
        let report = try Self.report(await Self.answer([TestScanner(found).setup()]))
        #expect(report.devices.map(\.address) == ["4", "3", "2", "1", "5"])
        let claims = report.devices.map { $0.claims.map { "\($0.driver) by \($0.mark)" } }
        #expect(
            claims == [
                ["band by services", "strap by services"], ["strap by services", "band by name"], ["band by name"], [],
                [],
            ])
        #expect(report.devices[0].transport == [.init("type", "radio"), .init("address", "4")])
        #expect(report.devices[0].services == ["180d", own])
        #expect(report.skipped == 0)
    }

    @Test func `only drivers for the kind of link recognise a device`() async throws {
        let scanner = OtherScanner([Self.device("1", "Band 7", ["180d"])])
        let report = try Self.report(await Self.answer([scanner.setup()]))
        #expect(report.devices.map(\.claims) == [[]])
    }

    @Test func `devices with a driver come first, then the nearest, and the rest is counted`() async throws {
        let found =
            (0..<Scanners.devices).map { Self.device("\($0)", signal: -40 - $0 % 50) }
            + [Self.device("far", "Band 7", signal: -99), Self.device("silent")]
        let report = try Self.report(await Self.answer([TestScanner(found).setup()]))
        #expect(report.devices.count == Scanners.devices)
        #expect(report.skipped == 2)
        #expect(report.devices.first?.address == "far")
        let signals = report.devices.dropFirst().compactMap(\.signalStrength)
        #expect(signals == signals.sorted(by: >))
    }

    @Test func `a service that devices use is asked as it is, and another one is opened for the scan`() async throws {
        let open = TestScanner([Self.device("open")])
        let closed = TestScanner([Self.device("closed")])
        let used = try Self.report(
            await Self.answer([closed.setup()], services: RunningServices([open]), kept: ["radio"]))
        #expect(used.devices.map(\.address) == ["open"])
        #expect(open.notes.withLock { $0 } == ["scan"])
        let unused = try Self.report(await Self.answer([closed.setup()], services: RunningServices([open])))
        #expect(unused.devices.map(\.address) == ["closed"])
        #expect(closed.notes.withLock { $0 } == ["open", "scan", "closed"])
    }

    @Test func `a service that is kept and broken says why`() async throws {
        let services = RunningServices()
        services.closed(TestScanner.self, "radio: D-Bus cannot be reached.")
        let answer = await Self.answer([TestScanner().setup()], services: services, kept: ["radio"])
        #expect(answer.status == .failed)
        #expect(answer.code == .offline)
        #expect(answer.message == "radio: D-Bus cannot be reached.")
    }

    @Test func `a plugin that cannot scan is reported beside what others find; if none can, the scan has failed`()
        async throws
    {
        let broken = TestScanner(failure: LinkError(.unreachable, "There is no adapter."))
        let mixed = try Self.report(await Self.answer([broken.setup(), OtherScanner([Self.device("1")]).setup()]))
        #expect(mixed.devices.map(\.address) == ["1"])
        #expect(mixed.problems == [.init(plugin: "radio", message: "There is no adapter.")])
        let alone = await Self.answer([broken.setup()])
        #expect(alone == Answer(.failed, code: .offline, message: "There is no adapter."))
        let late = TestScanner(failure: LinkError(.timeout, "It does not begin."))
        #expect(await Self.answer([late.setup()]).code == .timeout)
    }

    @Test func `without a plugin that can scan, a scan is unsupported`() async {
        let answer = await Self.answer([])
        #expect(answer.status == .rejected)
        #expect(answer.code == .unsupported)
    }

    @Test func `a limited number of scans runs at a time, and none opens a service twice`() async throws {
        let end = Promise<Void>()
        let scanner = TestScanner(until: end)
        let scanners = Scanners()
        scanners.replace(with: [scanner.setup()], drivers: [])
        let answers = Recorder<Answer>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0...Scanners.atOnce {
                group.addTask {
                    answers.append(await scanners.scan(for: .seconds(1), with: RunningServices()) { _ in false })
                }
            }
            let first = try await answers.wait(within: .seconds(20)) { !$0.isEmpty }
            #expect(first.map(\.code) == [.busy])
            end.fulfil(())
            try await group.waitForAll()
        }
        #expect(answers.elements.count { $0.status == .done } == Scanners.atOnce)
        let notes = scanner.notes.withLock { $0 }
        #expect(notes == Array(repeating: ["open", "scan", "closed"], count: Scanners.atOnce).flatMap(\.self))
    }

    @Test func `a cancelled scan ends`() async {
        let scan = Task { await Self.answer([TestScanner(until: Promise()).setup()]) }
        scan.cancel()
        #expect(await scan.value.status == .failed)
    }

    @Test func `the list for a terminal hides what has neither name nor driver, and nothing moves the cursor`()
        async throws
    {
        var connected = Self.device("C0:00", "Band 1", [], signal: -50)
        connected.device = DeviceID("band-1")
        connected.note = "Its address changes."
        let found = [connected, Self.device("AA:01"), Self.device("AA:02", "Evil\u{1B}[2J\nName", signal: -70)]
        let report = try Self.report(await Self.answer([TestScanner(found).setup()]))
        #expect(
            report.text(isWhole: false) == """
                SIGNAL   ADDRESS  NAME           DRIVER
                -50 dBm  C0:00    Band 1         band (by its name)  is band-1
                -70 dBm  AA:02    Evil\u{FFFD}[2J\u{FFFD}Name  -
                1 more without a name and a driver; --all lists them.
                C0:00: Its address changes.

                """)
        #expect(report.text(isWhole: true).contains("\n-        AA:01    -"))
        #expect(ScanReport(devices: []).text(isWhole: false) == "Nothing is in reach.\n")
        let json = try JSONValue(parsing: Array(report.json.utf8))
        #expect(json["devices"]?.asArray?.count == 3)
    }

    @Test func `an unused service is configured by its entry, and a configuration names the devices that it has`()
        throws
    {
        #expect(throws: Never.self) { try PluginCatalogue([ScanPlugin.self]) }
        let text = """
            mqtt: {url: "mqtt://127.0.0.1"}
            store: {path: a.sqlite}
            devices: []
            """
        let plugins = try PluginCatalogue([ScanPlugin.self])
        let plain = try ConfigurationLoader(plugins: plugins, environment: [:]).load(text: text, directory: "/tmp")
        #expect(plain.scanners.map(\.name) == ["scan"])
        #expect(plain.services.isEmpty)
        #expect((plain.scanners.first?.service as? ScanPlugin.Service)?.adapter == nil)
        let set = try ConfigurationLoader(plugins: plugins, environment: [:])
            .load(text: text + "\nplugins: {scan: {adapter: hci1}}\n", directory: "/tmp")
        #expect((set.scanners.first?.service as? ScanPlugin.Service)?.adapter == "hci1")
    }
}

/// A plugin with a service that scans and has an option.
private enum ScanPlugin: Plugin {
    static let name = "Scan"
    static let summary = "A service that scans."
    static let sample = ""
    static let service: (any PluginService.Type)? = Service.self

    final class Service: ScanningService {
        static let sample = ""
        static let transport: any Transport.Type = RadioTransport.self
        let adapter: String?
        init(options: inout ConfigurationReader) { adapter = options.optionalString("adapter") }
        func withService(context: ServiceContext, _ body: @escaping @Sendable () async throws -> Void) async throws {
            try await body()
        }
        func scan(for duration: Duration) async throws(LinkError) -> [NearbyDevice] { [] }
    }
}
