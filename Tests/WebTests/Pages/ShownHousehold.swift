import GatewayKit
import HTTPTypes
import Synchronization
import TestSupport
import Vitals

@testable import Web

/// What a stranger may have written into a name, a firmware or a note.
let hostileText = #"</title><script>alert(1)</script>"><img src=x onerror='alert(2)'>{{frame.token}}&amp;"#

/// A store as the pages read it, which a test fills.
final class ShownReader: GatewayReader {
    struct State {
        var devices: [ConfiguredDevice] = []
        var states: [DeviceID: [DeviceState]] = [:]
        var samples: [Metric: [StoredSample]] = [:]
        var days: [Metric: [DailySummary]] = [:]
        var alerts: [AlertEvent] = []
        var gaps: [Gap] = []
        var failure: StoreError?
        /// The most rows that were asked for at once, and how often.
        var mostRows = 0
        var readings = 0
    }
    private let state = Mutex(State())

    func set(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }
    var seen: State { state.withLock { $0 } }

    var devices: [ConfiguredDevice] { get async { seen.devices } }
    func states(of device: DeviceID) async -> [DeviceState] { seen.states[device] ?? [] }

    private func read(_ limit: Int) throws(StoreError) -> State {
        let state = state.withLock { state in
            state.mostRows = max(state.mostRows, limit)
            state.readings += 1
            return state
        }
        if let failure = state.failure { throw failure }
        return state
    }

    func samples(
        of device: DeviceID, _ metric: Metric, starting range: Range<Timestamp>, after: SampleKey?, limit: Int
    ) async throws(StoreError) -> [StoredSample] {
        let found = try read(limit).samples[metric] ?? []
        return Array(
            found.filter { stored in
                range.contains(stored.sample.start) && (after.map { SampleKey(stored.sample) > $0 } ?? true)
            }.prefix(limit))
    }

    func days(
        of device: DeviceID, _ metric: Metric, _ days: ClosedRange<LocalDay>, limit: Int
    ) async throws(StoreError) -> [DailySummary] {
        Array((try read(limit).days[metric] ?? []).filter { days.contains($0.day) }.prefix(limit))
    }

    func dayRecords(
        of device: DeviceID, _ metric: Metric, _ days: ClosedRange<LocalDay>, limit: Int
    ) async throws(StoreError) -> [DayRecord] {
        try await self.days(of: device, metric, days, limit: limit).map {
            DayRecord(summary: $0, revision: 1, updatedAt: Timestamp(seconds: 1_763_683_200), isFinal: false)
        }
    }

    func alerts(of device: DeviceID, before: Timestamp, limit: Int) async throws(StoreError) -> [AlertEvent] {
        Array(try read(limit).alerts.filter { $0.raisedAt < before }.prefix(limit))
    }

    func gaps(of device: DeviceID, limit: Int) async throws(StoreError) -> [Gap] {
        Array(try read(limit).gaps.prefix(limit))
    }
}

/// Takes commands, and answers as a test says.
final class ShownCommander: GatewayCommander {
    struct Command: Sendable, Hashable {
        var name: String
        var device: String?
        var arguments: String
    }
    private let taken = Mutex<[Command]>([])
    private let answer = Mutex(#"{"status": "done"}"#)

    var commands: [Command] { taken.withLock { $0 } }
    func set(answer text: String) { answer.withLock { $0 = text } }

    func perform(
        _ name: String, of device: DeviceID?, arguments: [UInt8],
        answer reply: @escaping @Sendable (_ payload: [UInt8], _ isFinal: Bool) -> Void
    ) async {
        let command = Command(
            name: name, device: device?.text, arguments: String(decoding: arguments, as: UTF8.self))
        taken.withLock { $0.append(command) }
        reply(Array(answer.withLock { $0 }.utf8), true)
    }
}

/// Adds devices to nothing.
final class ShownAdder: DeviceAdder {
    let phoneApps = [AddChoice("health-auto-export", "Health Auto Export"), AddChoice("link", "A band's app")]
    let models = [AddChoice("band", "A band")]
    let phoneObstacle: String? = nil
    private let taken = Mutex<[DeviceWishes]>([])
    var written: [DeviceWishes] { taken.withLock { $0 } }

    func scan() async throws(AddRefusal) -> ScanReport {
        ScanReport(devices: [
            ScanReport.Device(
                address: "30:35:47:00:11:22", name: hostileText, services: [], signalStrength: -61, isConnected: false,
                device: nil, claims: [ScanReport.Claim("colmi-ring", by: .name)],
                transport: [ScanReport.Option("type", "bluez"), ScanReport.Option("address", "30:35:47:00:11:22")],
                note: hostileText)
        ])
    }

    func exports() async -> FoundExports? {
        FoundExports(
            folder: "/exports",
            files: [
                FoundExports.File(
                    name: hostileText, about: hostileText,
                    devices: [
                        FoundExports.Device(
                            name: hostileText, about: hostileText, remark: nil,
                            wishes: DeviceWishes(
                                driver: "gadgetbridge", options: [ScanReport.Option("path", hostileText)]))
                    ])
            ])
    }

    func check(_ wishes: DeviceWishes) async -> CheckedDevice {
        let issues = wishes.id == "taken" ? ["id: The configuration has the id taken already."] : []
        return CheckedDevice(
            id: wishes.id ?? "new-1", name: wishes.name ?? "New", text: "id: \(wishes.id ?? "new-1")\n",
            file: "devices.d/new-1.yaml", issues: issues)
    }

    func write(_ wishes: DeviceWishes) async throws(AddRefusal) -> AddedDevice {
        guard let id = DeviceID(wishes.id ?? "new-1"), id.text != "taken" else { throw AddRefusal("It is taken.") }
        taken.withLock { $0.append(wishes) }
        if wishes.driver == "link" {
            var access = PhoneAccess(app: "A band's app", steps: [], address: nil, token: "5f2e9c1b7ad04e66")
            access.way = .call(PhoneAccess.Port(number: 7879, isEncrypted: true))
            return AddedDevice(id: id, name: wishes.name ?? "New", access: access)
        }
        let isPhone = wishes.driver == "health-auto-export"
        return AddedDevice(
            id: id, name: wishes.name ?? "New",
            access: isPhone
                ? PhoneAccess(
                    app: "Health Auto Export", steps: ["Scan the code."],
                    address: "https://gateway.example:8480/v1/devices/\(id)", token: "5f2e9c1b7ad04e66")
                : nil)
    }
}

/// What the page of the gateway shows beside its state.
struct ShownInspector: GatewayInspector {
    var log: [LogLine] {
        [LogLine(time: Timestamp(seconds: 1_763_683_000), level: "warning", text: hostileText, details: "device=a")]
    }
    func examine() async -> [Finding] { [Finding(.fine, "Broker", hostileText)] }
}

/// The pages of a household that a test fills, and browsers that look at them.
struct ShownHousehold {
    let gateway: ShownGateway
    let reader = ShownReader()
    let commander = ShownCommander()
    let adder = ShownAdder()
    let clock = ManualClock()
    let memory = PageMemory()
    let site: PageSite

    /// - Parameter access: `password`, `ingress` and `users`.
    init(_ gateway: ShownGateway = ShownGateway(), access: AccessRule = AccessRule(), isLoopback: Bool = true) throws {
        self.gateway = gateway
        let calendar = try ShownPlots.calendar()
        site = PageSite(
            PageSite.Settings(
                view: gateway, reader: reader, commander: commander, adder: adder, inspector: ShownInspector(),
                gateway: "home", clock: clock.gatewayClock, calendar: calendar),
            access: access, isLoopback: isLoopback, memory: memory)
    }

    /// Now, in the middle of the night of 2025-11-21 in Berlin.
    var now: Timestamp { clock.gatewayClock.now }

    /// A band of a person, with a value of each kind, a night, an alert and settings.
    func addBand(_ id: String = "band-1", name: String = "Band", person: String? = "Anna") throws {
        guard let device = DeviceID(id) else { throw Unexpected(text: id) }
        let text = name == hostileText ? hostileText : "1.2.3"
        var info = DeviceInfo(id: device, name: name, person: person, driver: "simulator")
        info.identity = DeviceIdentity(manufacturer: text, model: text, serial: text, firmware: text)
        info.capabilities = Capabilities([
            .heartRate: [.measure, .monitor, .history, .scheduleTime, .scheduleInterval, .alert, .restAlert],
            .steps: [.history], .sleep: [.history], .bloodPressure: [.history], .sport: [.history], .battery: [],
        ])
        let now = now
        func stored(_ metric: Metric, _ reading: Reading, ago: Duration, lasting: Duration = .zero) -> StoredSample {
            let end = now - ago
            let sample = Sample(metric: metric, start: end - lasting, end: end, reading: reading)
            return StoredSample(sample: sample, of: device, revision: 1, receivedAt: end)
        }
        let night = stored(
            .sleep,
            .sleep(Sleep(stages: [Sleep.Stage(.deep, from: now - .hours(9), to: now - .hours(2))])),
            ago: .hours(2), lasting: .hours(7))
        let samples: [Metric: [StoredSample]] = [
            .heartRate: (0..<50).reversed().map {
                stored(.heartRate, .value(60 + Double($0)), ago: .minutes($0 * 2 + 1))
            },
            .bloodPressure: [
                stored(.bloodPressure, .bloodPressure(BloodPressure(systolic: 121, diastolic: 78)), ago: .minutes(5))
            ],
            .steps: [stored(.steps, .count(Increment(count: 412)), ago: .minutes(10), lasting: .minutes(15))],
            .sleep: [night],
            .sport: [
                stored(.sport, .sport(Sport(activity: text, distance: 7400)), ago: .hours(20), lasting: .minutes(42))
            ],
            .battery: [stored(.battery, .value(64), ago: .minutes(1))],
        ]
        let rule = AlertRule(.heartRate, .resting, .high)
        let edge = SampleID(name: "edge")
        let level = AlertLevel(
            rule: rule, isActive: true, since: now - .minutes(11), value: 112, limit: 100, lastID: edge,
            raisedAt: now - .minutes(11))
        let settings = MonitorSettings.defaults(for: info.capabilities ?? Capabilities())
        var twin = TwinState(desired: settings, version: 17, reported: settings, updatedAt: now)
        twin.pending = [MonitorSetting(.heartRate, .upper(.resting))]
        twin.error = name == hostileText ? hostileText : nil
        var sync = SyncState(phase: .idle, lastSuccessAt: now - .minutes(12), skipped: ["too_many": 9])
        var row = SyncState.Row(.heartRate, .done)
        row.refused.add(.outOfRange, start: now - .hours(1), end: now)
        sync.rows = [row]
        sync.error = name == hostileText ? hostileText : nil
        let latest = samples.compactMap { $1.last.map { LatestState(stored: $0, freshUntil: nil, isStale: false) } }
        let today = DailySummary(
            metric: .steps, day: try ShownPlots.calendar().day(of: now), count: 1, manualCount: 0, average: nil,
            details: .count(total: 1214, distance: nil, energy: nil))
        var parts: [DeviceState] =
            [
                .info(info), .availability(isOnline: true),
                .link(LinkState(phase: .connected, since: now, lastError: text)), .level(level), .config(twin),
                .sync(sync), .measure(MeasureState(phase: .ended, metric: .heartRate)),
                .wear(WearState(isWorn: true, at: now)),
                .pairing(PairingState(.passkey, until: now + .minutes(1), message: text, at: now)),
                .whose(
                    WhoseState([Question(id: edge, metric: .weight, measuredAt: now - .minutes(9), candidates: [1])])),
                .today(DayRecord(summary: today, revision: 1, updatedAt: now, isFinal: false)),
            ]
        parts += latest.map { DeviceState.latest($0) }
        let states = parts
        reader.set { state in
            state.devices.append(ConfiguredDevice(id: device, name: name, driver: "simulator", person: person))
            state.states[device] = states
            state.samples = samples
            state.days = [.steps: [today]]
            state.alerts = [
                AlertEvent(
                    id: edge, rule: rule, edge: .raised, value: 112, limit: 100, origin: .gateway,
                    measuredAt: now - .minutes(11), raisedAt: now - .minutes(11), sampleID: nil,
                    acknowledgement: Vitals.Acknowledgement(by: "Dora", at: now - .minutes(3)))
            ]
        }
        gateway.set { $0.overview.isConnected = true }
    }

    /// The addresses of all pages.
    static let pages: [String] =
        ["/", "/gateway", "/devices/band-1", "/devices/band-1/nights/2025-11-20", "/add"]
        + DeviceSection.allCases.map { "/devices/band-1/\($0.rawValue)" }
        + AddWay.allCases.map { "/add/\($0.rawValue)" }
        + PlotPeriod.allCases.map { "/devices/band-1/values?range=\($0.rawValue)" }
        + ["/devices/band-1/values?metric=heart_rate"]
}

/// A browser: it keeps the cookie, and sends forms with the token of the last page.
final class ShownBrowser {
    let household: ShownHousehold
    var cookie: String?
    var token = ""
    var headers: HTTPFields = [:]
    var address = "127.0.0.1"
    var base = "/"
    var isIngress = false
    var isEncrypted = false

    init(_ household: ShownHousehold) { self.household = household }

    func get(_ target: String) async -> WebAnswer { await send("GET", target, body: "") }

    /// The text of a page.
    func text(_ target: String) async -> String { String(decoding: await get(target).body, as: UTF8.self) }

    /// Posts a form with the token.
    func post(_ target: String, _ fields: KeyValuePairs<String, String> = [:]) async -> WebAnswer {
        let form = ([("csrf", token)] + fields.map { ($0.key, $0.value) })
            .map { "\($0.0)=\(Self.encoded($0.1))" }.joined(separator: "&")
        return await send("POST", target, body: form)
    }

    func send(_ method: String, _ target: String, body: String) async -> WebAnswer {
        let sides = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var request = WebRequest(
            method: method, path: String(sides[0]), query: sides.count > 1 ? String(sides[1]) : "", headers: headers,
            address: address, isEncrypted: isEncrypted, base: base, authority: "gateway.example", isIngress: isIngress,
            body: Array(body.utf8))
        if method == "POST", request.headers[.contentType] == nil {
            request.headers[.contentType] = "application/x-www-form-urlencoded"
        }
        if let cookie { request.headers[.cookie] = cookie }
        let answer = await household.site.answer(to: request)
        for (name, value) in answer.headers where name == "Set-Cookie" {
            cookie = value.contains("Max-Age=0") ? nil : String(value.prefix { $0 != ";" })
        }
        let text = String(decoding: answer.body, as: UTF8.self)
        if let match = text.firstMatch(of: #/<meta name="csrf" content="([0-9a-f]+)">/#) { token = String(match.1) }
        return answer
    }

    private static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            let isPlain = UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
            return isPlain ? String(UnicodeScalar(byte)) : "%" + Hexadecimal.text([byte])
        }.joined()
    }
}

extension WebAnswer {
    /// The value of a header; `nil` without it.
    func value(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}

/// What `web:` says of who may see the pages.
func accessRule(_ members: KeyValuePairs<String, ConfigurationValue>, password: String? = nil) throws -> AccessRule {
    let secret = ConfigurationValue(
        .map([(ConfigurationKey("env"), ConfigurationValue(.scalar("WEB", isQuoted: true)))]))
    let all =
        members.map { (ConfigurationKey($0.key), $0.value) }
        + (password == nil ? [] : [(ConfigurationKey("password"), secret)])
    var place = ConfigurationPlace()
    if let password { place.environment["WEB"] = password }
    var reader = ConfigurationReader(ConfigurationValue(.map(all)), place: place)
    let rule = AccessRule(&reader)
    let issues = reader.finish()
    guard issues.isEmpty else { throw Unexpected(text: "\(issues.map(\.message))") }
    return rule
}
