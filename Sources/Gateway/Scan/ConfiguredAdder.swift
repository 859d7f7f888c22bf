import Concurrency
import Foundation
import GatewayKit
import Glibc
import Listening
import Vitals
import Web

/// Adds devices for the pages, with what the commands `scan`, `sources` and `add --write` use.
struct ConfiguredAdder: DeviceAdder {
    /// How long a scan of the page listens.
    static let scanTime: Duration = .seconds(10)
    /// The folder for exports of phones, beside the configuration.
    static let exportFolder = "exports"
    /// The most files of that folder that are looked at: each is opened and counted.
    static let maximumFiles = 20

    /// Listens for devices with what the gateway has open.
    typealias Scan = @Sendable (Duration) async -> Answer

    private let files: DeviceFiles
    private let calendar: LocalCalendar
    private let clock: GatewayClock
    private let scanning: Scan
    private let isReachable: Bool
    /// All of it waits for the disk.
    private let queue = BlockingQueue(label: "vitals2mqtt.adding")

    /// - Parameters:
    ///   - files: the folder of `devices_from`.
    ///   - isReachable: whether phones reach the listener.
    init(
        to files: DeviceFiles, calendar: LocalCalendar, clock: GatewayClock, isReachable: Bool, scan: @escaping Scan
    ) {
        self.files = files
        self.calendar = calendar
        self.clock = clock
        self.isReachable = isReachable
        scanning = scan
    }

    private var plugins: PluginCatalogue { files.loader.plugins }
    private var directory: String { URL(filePath: files.configuration).absoluteURL.deletingLastPathComponent().path }

    // MARK: - What there is

    var phoneApps: [AddChoice] {
        Self.apps.filter { plugins.driver(named: $0.driver) != nil }.map { AddChoice($0.driver, $0.name) }
    }

    /// An app of a phone: its driver, the keys of its transport, and what a person does in it.
    private struct App {
        var driver: String
        var name: String
        var transport = [ScanReport.Option("type", "http")]
        var steps: [String]
    }

    private static let apps = [
        App(
            driver: "health-auto-export", name: "Health Auto Export (iPhone)",
            steps: [
                "Make an automation of the kind REST API, with the URL and the header below.",
                "Data type Health Metrics, format JSON, version 2, date range Last 7 days, aggregated by minutes.",
                "A second one for sleep alone, without aggregation.",
            ]),
        App(
            driver: "health-connect-webhook", name: "HC Webhook (Android)",
            steps: [
                "Set the URL as webhook, and the header below.", "Choose the data types, and an interval of an hour.",
            ]),
        App(
            driver: "nightscout", name: "xDrip+, Juggluco and others that upload to Nightscout",
            steps: [
                "Juggluco: Nightscout URL as below; as secret what stands behind Bearer below. Leave V3 off.",
                "xDrip+: Cloud Upload, Nightscout Sync (REST-API), as base URL: https://, that secret, @, the URL below without https://, and /api/v1/ behind it.",
                "The URL must begin with https://.",
            ]),
        App(
            driver: "link", name: "An app that carries a band (Vitals Link)",
            transport: [ScanReport.Option("type", "tcp"), ScanReport.Option("listen", "true")],
            steps: [
                "Let the app scan the code, or type what is below into it.",
                "The app calls the gateway whenever its band is connected.",
            ]),
        App(
            driver: "documents", name: "A script of your own",
            steps: ["Post documents to the URL with the header below."]),
    ]

    /// Where an app that calls reaches the gateway, by `plugins: {tcp: …}`; `nil` if that listens on this machine only.
    private var calls: PhoneAccess.Port? {
        guard let tcp = (try? files.loader.load(files.configuration))?.source["plugins"]?["tcp"],
            case .scalar(let text, _)? = tcp["listen"]?.content, let address = ListenAddress(text), !address.isLoopback
        else { return nil }
        return PhoneAccess.Port(number: address.port, isEncrypted: tcp["tls"] != nil)
    }

    /// What an app needs, with its token.
    private func access(_ app: App, _ token: String) -> PhoneAccess {
        var access = PhoneAccess(app: app.name, steps: app.steps, address: nil, token: token)
        guard app.transport.contains(ScanReport.Option("listen", "true")) else { return access }
        let port = calls
        access.way = .call(port)
        if port == nil {
            access.steps.insert(
                "Set listen and tls in plugins: {tcp: …} of the configuration: the gateway takes calls of this machine only.",
                at: 0)
        }
        return access
    }

    var models: [AddChoice] {
        guard plugins.driver(named: "simulator") != nil else { return [] }
        return [
            AddChoice("band", "A band: heart, oxygen, sleep, steps"), AddChoice("ring", "A ring"),
            AddChoice("cuff", "A cuff for blood pressure"), AddChoice("oximeter", "An oximeter"),
            AddChoice("scale", "A scale"), AddChoice("glucose", "A glucose meter"),
        ]
    }

    var phoneObstacle: String? {
        isReachable
            ? nil
            : "The gateway listens on this machine only, where no phone reaches it. Set listen and tls in web: of the configuration, or use a proxy."
    }

    func scan() async throws(AddRefusal) -> ScanReport {
        let answer = await scanning(Self.scanTime)
        guard case .nearby(let report) = answer.data else {
            throw AddRefusal(answer.message ?? "Nothing could be scanned.")
        }
        return report
    }

    func exports() async -> FoundExports? {
        let folder = "\(directory)/\(Self.exportFolder)"
        let (finder, calendar, now) = (SourceFinder(plugins), calendar, clock.now)
        return try? await queue.run { () -> FoundExports? in
            guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return nil }
            var found = FoundExports(folder: folder, files: [])
            let shown = names.filter { !$0.hasPrefix(".") }.sorted()
            for name in shown.prefix(Self.maximumFiles) {
                guard let report = try? finder.find("\(folder)/\(name)", calendar: calendar, now: now) else { continue }
                found.files.append(Self.file(name, report))
            }
            if shown.count > Self.maximumFiles {
                found.problem = "The folder has \(shown.count) files; the first \(Self.maximumFiles) were looked at."
            }
            return found
        }
    }

    private static func file(_ name: String, _ report: SourceReport) -> FoundExports.File {
        FoundExports.File(
            name: name, about: report.kind,
            devices: report.devices.map { device in
                let metrics = device.records.map { "\($0.metric.rawValue) (\($0.count))" }
                let options = device.options.filter { !$0.value.isEmpty }
                    .map { ScanReport.Option($0.key, $0.value) }
                let wishes = DeviceWishes(
                    driver: device.driver, options: options, name: device.name.isEmpty ? nil : device.name.printable)
                return FoundExports.Device(
                    name: device.name.isEmpty ? "(without a name)" : device.name.printable,
                    about: metrics.isEmpty ? "no records yet" : metrics.joined(separator: ", "), remark: device.remark,
                    wishes: wishes)
            })
    }

    // MARK: - The entry

    func check(_ wishes: DeviceWishes) async -> CheckedDevice {
        do { return try await queue.run { draft(wishes).checked } } catch {
            return CheckedDevice(id: "", name: "", text: "", file: "", issues: ["\(error)"])
        }
    }

    func write(_ wishes: DeviceWishes) async throws(AddRefusal) -> AddedDevice {
        let result = try? await queue.run { () -> Result<AddedDevice, AddRefusal> in
            let draft = draft(wishes)
            guard draft.checked.issues.isEmpty, let id = DeviceID(draft.device.id) else {
                return .failure(AddRefusal(draft.checked.issues.first ?? "The entry has errors."))
            }
            let app = Self.apps.first { $0.driver == wishes.driver && draft.needsToken }
            do {
                let token = try app.map { _ in try Self.makeToken("\(directory)/\(Self.tokenFile(of: id.text))") }
                do { _ = try files.write(draft.device) } catch {
                    // Without its entry the token is of no use.
                    if app != nil { unlink("\(directory)/\(Self.tokenFile(of: id.text))") }
                    throw error
                }
                let access = app.flatMap { app in token.map { self.access(app, $0) } }
                return .success(AddedDevice(id: id, name: draft.device.name, access: access))
            } catch let error as AddRefusal { return .failure(error) } catch {
                return .failure(AddRefusal("\(error)"))
            }
        }
        guard let result else { throw AddRefusal("The entry cannot be written now. Try again.") }
        return try result.get()
    }

    /// An entry with what was found out about it.
    private struct Draft {
        var device: NewDevice
        var checked: CheckedDevice
        /// Whether a token is made for it.
        var needsToken: Bool
    }

    private func draft(_ wishes: DeviceWishes) -> Draft {
        let others = ((try? files.loader.load(files.configuration))?.devices ?? []).map(\.info.id)
        let id = wishes.id ?? NewDevice.suggestedID(for: wishes.name ?? wishes.driver, beside: others)
        var transport = wishes.transport
        // The page says an app by its driver alone.
        if transport.isEmpty { transport = Self.apps.first { $0.driver == wishes.driver }?.transport ?? [] }
        func has(_ key: String) -> Bool { transport.contains { $0.key == key || $0.key.hasPrefix("\(key).") } }
        let type = transport.first { $0.key == "type" }?.value
        let isCalled = type == "http" || transport.contains(ScanReport.Option("listen", "true"))
        let needsToken = isCalled && !has("token")
        if needsToken { transport.append(ScanReport.Option("token.file", Self.tokenFile(of: id))) }
        // The page asks for the passkey.
        let mayAsk = type.flatMap { plugins.transport(named: $0) }?.pairings.contains("ask") ?? false
        if mayAsk, !has("pairing"), plugins.driver(named: wishes.driver)?.mayNeedPairing ?? false {
            transport.append(ScanReport.Option("pairing", "ask"))
        }
        var device = NewDevice(
            id: id, name: wishes.name ?? id, driver: wishes.driver, transport: transport, options: wishes.options)
        device.person = wishes.person
        var issues = device.issues(with: plugins, beside: others, directory: directory)
        // The token's file comes with the entry.
        if needsToken { issues.removeAll { $0.hasPrefix("transport.token") } }
        var file = ""
        if let folder = try? ConfigurationLoader.deviceFolder(in: files.configuration) {
            file = "\(folder)/\(DeviceFile.name(of: id))"
        } else {
            issues.append(
                "The configuration does not say where devices may be written. Make a folder beside it, and add the line \(DeviceFolder.key): devices.d"
            )
        }
        let checked = CheckedDevice(
            id: id, name: device.name, text: device.document, file: file, issues: issues,
            willPair: transport.contains(ScanReport.Option("pairing", "ask")))
        return Draft(device: device, checked: checked, needsToken: needsToken)
    }

    /// The file of a device's token, beside the configuration.
    private static func tokenFile(of id: String) -> String { "\(id).token" }

    /// Makes a token of 256 bits in a new file that only its owner may read.
    /// - Throws: why there is none.
    private static func makeToken(_ path: String) throws(AddRefusal) -> String {
        var generator = SystemRandomNumberGenerator()
        let token = Hexadecimal.text((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else {
            throw AddRefusal(
                "\(path) cannot be made: \(String(cString: strerror(errno))). Choose another id, or remove that file.")
        }
        let bytes = Array("\(token)\n".utf8)
        let isWritten =
            bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) } == bytes.count && fsync(file) == 0
        guard close(file) == 0, isWritten else {
            unlink(path)
            throw AddRefusal("\(path) cannot be written: \(String(cString: strerror(errno))).")
        }
        return token
    }
}
