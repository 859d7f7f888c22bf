import Contract
import MQTT
import Vitals

/// Every kind of message, by the name of its fixture.
enum ExampleMessages {
    static let names = all.map(\.name)

    static func message(_ name: String) -> OutgoingMessage? { all.first { $0.name == name }?.message }

    static let all: [(name: String, message: OutgoingMessage)] = facts + state + answers + pairing + whose

    private static let device = Examples.device
    private static let now = Examples.now

    private static func fact(
        _ sequence: Int64, _ lane: Lane, _ content: Fact.Content, isReplay: Bool = false
    ) -> OutgoingMessage {
        var encoder = Examples.encoder
        return encoder.fact(
            Fact(sequence: sequence, lane: lane, device: device, content: content), info: Examples.info,
            publishedAt: now, isReplay: isReplay)
    }

    private static func measurement(
        _ samples: [StoredSample], source: SampleSource = .sync, isHistorical: Bool = true, user: Int? = nil,
        isReplay: Bool = false
    ) -> OutgoingMessage {
        fact(
            184_467, .history,
            .measurement(
                Fact.Measurement(
                    metric: samples[0].sample.metric, source: source, isHistorical: isHistorical, user: user,
                    samples: samples)), isReplay: isReplay)
    }

    private static let alert = AlertEvent(
        id: SampleID(name: "raised"), rule: AlertRule(.heartRate, .resting, .high), edge: .raised, value: 112,
        limit: 100, origin: .gateway, measuredAt: now, raisedAt: now, sampleID: Examples.heartRate.id)
    private static let cleared = AlertEvent(
        id: SampleID(name: "cleared"), raisedID: SampleID(name: "raised"), rule: AlertRule(.stress, .low),
        edge: .cleared, value: nil, limit: nil, origin: .device, measuredAt: now,
        raisedAt: Examples.time("2026-11-21T07:00:00Z"), sampleID: nil)

    /// A phone says hours later that its watch warned of a high heart rate.
    private static let warning = AlertEvent(
        id: SampleID(name: "warning"), rule: AlertRule(.highHeartRate), edge: .raised, value: 131, limit: 120,
        origin: .device, measuredAt: now, raisedAt: now, sampleID: nil)
    /// It finds an ECG without atrial fibrillation, or any heart rate, just now.
    private static let recording = AlertEvent(
        id: SampleID(name: "recording"), rule: AlertRule(.inconclusive), edge: .raised, value: nil, limit: nil,
        origin: .device, measuredAt: now, raisedAt: now, sampleID: nil)

    private static let facts: [(name: String, message: OutgoingMessage)] = [
        ("measurement-heart-rate", measurement([Examples.heartRate, Examples.restingRate])),
        (
            "measurement-blood-pressure",
            measurement([Examples.pressure], source: .measure, isHistorical: false, user: 2)
        ),
        ("measurement-temperature", measurement([Examples.temperature], source: .live, isHistorical: false)),
        ("measurement-heart-rate-variability", measurement([Examples.variability, Examples.otherVariability])),
        ("measurement-blood-glucose", measurement([Examples.glucose, Examples.plainGlucose])),
        ("measurement-weight", measurement([Examples.weight], source: .live, isHistorical: false, user: 2)),
        ("measurement-steps", measurement([Examples.steps])),
        ("measurement-distance", measurement(Examples.distances)),
        ("measurement-sleep", measurement([Examples.shorterSleep, Examples.sleep])),
        ("measurement-sleep-without-stages", measurement([Examples.unstagedSleep, Examples.untimedNap])),
        ("measurement-sport", measurement([Examples.sport])),
        (
            "measurement-replay",
            measurement([Examples.heartRate], source: .live, isHistorical: false, isReplay: true)
        ),
        ("past-day", fact(7, .history, .day(day(isFinal: true)))),
        ("alert-raised", fact(8, .alert, .alert(alert, isLate: false))),
        ("alert-late", fact(9, .history, .alert(cleared, isLate: true))),
        ("alert-warning", fact(12, .alert, .alert(recording, isLate: false))),
        ("alert-warning-late", fact(13, .alert, .alert(warning, isLate: true))),
        ("alert-replay", fact(8, .alert, .alert(alert, isLate: false), isReplay: true)),
        (
            "gap",
            fact(
                10, .alert,
                .gap(
                    Gap(
                        metric: .heartRate, from: Examples.time("2026-11-01T00:00:00Z"), to: nil, count: 12,
                        reason: .evicted, at: now, sequences: [3...5, 9...9])))
        ),
        (
            "gap-refused",
            fact(
                11, .alert,
                .gap(
                    Gap(
                        metric: .heartRate, from: Examples.time("2026-11-01T00:00:00Z"), to: now, count: 3,
                        reason: .refused, at: now, refused: [.outOfRange: 2, .endBeforeStart: 1])))
        ),
    ]

    static func day(isFinal: Bool = false) -> DayRecord {
        var summary = DailySummary(
            metric: .heartRate, day: LocalDay(number: 20_777), samples: [Examples.heartRate, Examples.restingRate])
        summary.zones = Examples.zones
        return DayRecord(
            summary: summary, revision: 2, updatedAt: now, isFinal: isFinal,
            deviceSummary: isFinal
                ? DailySummary(
                    metric: .heartRate, day: LocalDay(number: 20_777), count: 2, manualCount: 0, average: 54.5,
                    details: .values(DailySummary.Extremes())) : nil)
    }

    private static func today(_ metric: Metric, _ samples: [StoredSample]) -> OutgoingMessage {
        var encoder = Examples.encoder
        var summary = DailySummary(metric: metric, day: LocalDay(number: 20_777), samples: samples)
        if case .sport(var totals) = summary.details {
            totals.workouts[0].zones = Examples.zones
            summary.details = .sport(totals)
        }
        return encoder.today(
            DayRecord(summary: summary, revision: 1, updatedAt: now, isFinal: false), of: device)
    }

    private static func latest(_ stored: StoredSample, until: String?, isStale: Bool = false) -> OutgoingMessage {
        Examples.encoder.latest(
            LatestState(stored: stored, freshUntil: until.map(Examples.time), isStale: isStale), of: device,
            person: "anna", now: now)
    }

    private static let state: [(name: String, message: OutgoingMessage)] = [
        ("gateway-status-online", Examples.encoder.gatewayStatus(isOnline: true)),
        (
            "gateway-info",
            Examples.encoder.gatewayInfo(
                GatewayInfo(
                    version: "0.1.0", store: SampleID(name: "store"), startedAt: now, plugins: ["link", "tcp"],
                    devices: [device]))
        ),
        (
            "gateway-state",
            Examples.encoder.gatewayState(
                GatewayState(
                    broker: "127.0.0.1:1883", protocolVersion: "5", outbox: [.live: 3], oldestUnsentAt: nil,
                    dropped: ["samples": 4], quarantined: 1, storeBytes: 81_920, lastError: nil, late: [.storeWriter],
                    statistics: StatisticsState(
                        activity: .refused, due: 2, importedAt: Examples.time("2026-11-21T07:20:00Z"),
                        problem: "There is no entity x"), at: now))
        ),
        ("info", Examples.encoder.info(Examples.info)),
        ("info-never-connected", Examples.encoder.info(DeviceInfo(id: device, name: "Ring", driver: "link"))),
        ("availability-offline", Examples.encoder.availability(false, of: device)),
        (
            "link",
            Examples.encoder.link(
                LinkState(phase: .waiting, since: now, attempts: 3, clockSkew: -1.5, lastError: "No route."), of: device
            )
        ),
        ("latest", latest(Examples.heartRate, until: "2026-11-21T07:51:04.120Z")),
        ("latest-stale", latest(Examples.pressure, until: "2026-11-21T07:31:04.120Z")),
        ("latest-without-end", latest(Examples.pressure, until: nil)),
        ("latest-heart-rate-variability", latest(Examples.variability, until: "2026-11-21T22:10:00.000Z")),
        ("today-heart-rate-variability", today(.heartRateVariability, [Examples.variability])),
        (
            "today-mixed-statistics",
            today(.heartRateVariability, [Examples.variability, Examples.otherVariability])
        ),
        ("today-heart-rate", today(.heartRate, [Examples.heartRate, Examples.restingRate])),
        ("today-steps", today(.steps, [Examples.steps])),
        ("today-distance", today(.distance, Examples.distances)),
        ("today-protein", today(.protein, Examples.meals)),
        ("today-sleep", today(.sleep, [Examples.sleep])),
        ("today-sleep-without-stages", today(.sleep, [Examples.unstagedSleep, Examples.untimedNap])),
        ("today-sport", today(.sport, [Examples.sport])),
        ("today-blood-pressure", today(.bloodPressure, [Examples.pressure])),
        ("today-empty", today(.heartRate, [])),
        (
            "level",
            Examples.encoder.level(
                AlertLevel(
                    rule: AlertRule(.bloodOxygen, .low), isActive: true, since: now, value: 88, limit: 92,
                    lastID: SampleID(name: "raised")), of: device, person: nil)
        ),
        (
            "level-acknowledged",
            Examples.encoder.level(
                AlertLevel(
                    rule: AlertRule(.heartRate, .resting, .high), isActive: true,
                    since: Examples.time("2026-11-21T07:00:00Z"), value: 112, limit: 100,
                    lastID: SampleID(name: "raised"), acknowledgement: Acknowledgement(by: "ben", at: now)),
                of: device, person: "anna")
        ),
        (
            "config",
            Examples.encoder.config(
                TwinState(
                    desired: Examples.settings, version: 17, reported: reported, reportedVersion: 16,
                    pending: [MonitorSetting(.heartRate, .upper(.resting))],
                    drift: [MonitorSetting(.stress, .scheduleStart)], updatedAt: now), of: device)
        ),
        (
            "config-never-connected",
            Examples.encoder.config(
                TwinState(
                    version: 1, updatedAt: now,
                    waiting: MonitorPatch([MonitorSetting(.temperature, .upper(.value)): .number(38.5)])), of: device)
        ),
        (
            "sync",
            Examples.encoder.sync(
                SyncState(
                    phase: .syncing, job: "connect", metric: .sleep,
                    rows: rows("No answer within 60 s.") + [row(.sleep, .reading), row(.sport, .waiting)],
                    oldest: now, newest: now, startedAt: now, lastSuccessAt: now, skipped: ["too_many": 9]), of: device)
        ),
        (
            "measure",
            Examples.encoder.measure(
                MeasureState(
                    phase: .measuring, metric: .heartRate, startedAt: now,
                    newest: Sample(metric: .heartRate, start: now, reading: .value(71))), of: device)
        ),
        ("measure-idle", Examples.encoder.measure(MeasureState(), of: device)),
        ("wear", Examples.encoder.wear(WearState(isWorn: true, at: now), of: device)),
    ]

    static func answer(_ answer: Answer, device: DeviceID? = device, command: String = "sync") -> OutgoingMessage {
        var encoder = Examples.encoder
        return encoder.answer(
            answer, to: CommandEnvelope(id: "c-81", device: device, command: command), about: Examples.info, at: now)
    }

    /// The settings on the device: some are pending, and one was changed on the device.
    private static var reported: MonitorSettings {
        var settings = Examples.settings
        settings[.heartRate, .upper(.resting)] = .number(110)
        settings[.stress, .scheduleStart] = .number(540)
        return settings
    }

    private static func row(_ metric: Metric, _ state: SyncState.Row.State) -> SyncState.Row {
        SyncState.Row(metric, state)
    }

    /// A metric that was read, and one that failed.
    private static func rows(_ message: String) -> [SyncState.Row] {
        var done = row(.heartRate, .done)
        (done.new, done.known) = (1310, 88)
        done.refused.add(.outOfRange, count: 2)
        done.refused.add(.endBeforeStart, count: 1)
        var failed = row(.stress, .failed)
        failed.error = SyncState.Failure(metric: .stress, code: .timeout, message: message)
        return [done, failed]
    }

    private static let answers: [(name: String, message: OutgoingMessage)] = [
        (
            "answer-sync",
            answer(
                Answer(
                    .failed, code: .deviceError, message: "One metric failed.",
                    data: .sync(SyncState(rows: rows("No answer.")))))
        ),
        (
            "answer-sync-gateway",
            answer(
                Answer(
                    .done,
                    data: .devices([
                        device: Answer(.done, data: .sync(SyncState(rows: rows("No answer.")))),
                        Examples.id("band-1"): Answer(.failed, code: .offline, message: "The device is not connected."),
                    ])), device: nil)
        ),
        (
            "answer-violations",
            answer(
                Answer(
                    .rejected, code: .invalid, message: "Nothing was changed.",
                    violations: [Violation(path: "stress.alert.upper", message: "must be a number")]),
                command: "config/set")
        ),
        ("answer-accepted", answer(Answer(.accepted))),
        ("answer-replay", answer(Answer(.done, data: .replayed(12)), device: nil, command: "replay")),
        (
            "answer-history",
            answer(
                Answer(.done, data: .samples([Examples.heartRate], metric: .heartRate, next: "1.2.0")),
                command: "history")
        ),
        ("answer-daily", answer(Answer(.done, data: .days([day()])), command: "daily")),
        (
            "answer-daily-items",
            answer(
                Answer(
                    .done,
                    data: .itemisedDays([
                        ItemisedDay(
                            record: day(), samples: [Examples.heartRate, Examples.manualRate], next: "1.1.0")
                    ])), command: "daily")
        ),
        ("answer-measure", answer(Answer(.done, data: .measurement(Examples.pressure)), command: "measure")),
        (
            "answer-fetch",
            answer(Answer(.done, data: .settings(Examples.settings, of: [.heartRate, .stress])), command: "fetch")
        ),
        (
            "answer-fetch-all",
            answer(Answer(.done, data: .settings(Examples.settings, of: Metric.monitored)), command: "fetch")
        ),
        (
            "answer-acknowledge",
            answer(Answer(.done, data: .acknowledged(Acknowledgement(by: "ben", at: now))), command: "acknowledge")
        ),
        ("answer-time", answer(Answer(.done, data: .clock(skew: 2.25)), command: "time")),
        (
            "answer-version",
            answer(
                Answer(.done, data: .version(18, pending: [MonitorSetting(.stress, .upper(.value))])),
                command: "config/set")
        ),
        (
            "answer-scan",
            answer(Answer(.done, data: .nearby(Examples.nearby)), device: nil, command: "scan")
        ),
        (
            "answer-reload",
            answer(Answer(.done, data: .names(["added": ["ring-2"], "removed": []])), device: nil, command: "reload")
        ),
    ]
}
