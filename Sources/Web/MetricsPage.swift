import Synchronization
import Vitals

/// `/metrics`: the gateway's condition for Prometheus, from what the gateway has in memory.
///
/// Devices are named by their ids, and persons never. Values of health are in it only if the configuration says so.
package final class MetricsPage: WebPage {
    /// The most scrapes at a time, also while their answers are being sent: two Prometheus servers.
    package static let atOnce = 2
    /// The most bytes of the rows of devices: 10,000 devices have half of it. The other devices are only counted.
    package static let maximumAnswer = 16 << 20
    /// The number of devices after which other tasks get a turn.
    static let turn = 64

    package let path = "/metrics"
    private let view: any GatewayView
    private let hasVitals: Bool
    private let maximum: Int
    private let running = Mutex(0)

    /// - Parameters:
    ///   - hasVitals: whether it has the newest values, too.
    ///   - maximum: the most bytes of the rows of devices.
    package init(of view: any GatewayView, withVitals hasVitals: Bool, maximum: Int = MetricsPage.maximumAnswer) {
        self.view = view
        self.hasVitals = hasVitals
        self.maximum = maximum
    }

    package func answer(to request: WebRequest) async -> WebAnswer {
        if let refusal = request.refusal { return refusal }
        guard begin() else { return .busy("\(Self.atOnce) scrapes are running. Try again later.") }
        var answer = WebAnswer(200, MetricsText.mediaType, await text().bytes)
        answer.onEnd = { self.end() }
        return answer
    }

    // Their locks must not be inlined where a wait lies between them: Decision 165.
    @inline(never)
    private func begin() -> Bool {
        running.withLock { running in
            guard running < Self.atOnce else { return false }
            running += 1
            return true
        }
    }

    @inline(never)
    private func end() { running.withLock { $0 -= 1 } }

    /// All rows.
    func text() async -> MetricsText {
        var text = MetricsText()
        await Self.write(view, withVitals: hasVitals, maximum: maximum, to: &text)
        return text
    }

    /// All rows of a gateway.
    static func write(
        _ view: any GatewayView, withVitals hasVitals: Bool, maximum: Int = MetricsPage.maximumAnswer,
        to rows: inout some MetricRows
    ) async {
        write(view.overview, late: view.late, to: &rows)
        let devices = view.devices
        rows.add(Families.devices, Double(devices.count))
        let own = rows.size
        var written = 0
        for device in devices {
            guard rows.size - own < maximum else { break }
            write(view.overview(of: device), of: device, withVitals: hasVitals, to: &rows)
            written += 1
            if written % turn == 0 { await Task.yield() }
        }
        rows.add(Families.omitted, Double(devices.count - written))
    }

    // MARK: - The gateway

    private static func write(_ overview: GatewayOverview, late: [String], to text: inout some MetricRows) {
        let version = overview.state?.protocolVersion ?? ""
        text.add(Families.info, 1, ["version": overview.version, "protocol": version])
        text.add(Families.start, overview.startedAt.inSeconds)
        text.add(Families.clock, overview.now.inSeconds)
        if let isRight = overview.isClockSynchronised { text.add(Families.clockSynchronised, isRight ? 1 : 0) }
        text.add(Families.ready, late.isEmpty ? 1 : 0)
        text.add(Families.lateParts, Double(late.count))
        for part in late.prefix(HealthPage.maximumNames) { text.add(Families.late, 1, ["part": part]) }
        text.add(Families.broker, overview.isConnected ? 1 : 0)
        text.add(Families.refusedConfiguration, overview.isConfigurationRefused ? 1 : 0)
        if let bytes = overview.freeBytes { text.add(Families.free, Double(bytes)) }
        text.add(Families.inFlight, Double(overview.inFlight))
        for lane in Lane.allCases {
            let counts = overview.lanes[lane] ?? LaneCounts()
            for (stage, count) in [
                ("stored", counts.stored), ("sent", counts.sent), ("acknowledged", counts.acknowledged),
            ] {
                text.add(Families.pipeline, Double(count), ["stage": stage, "lane": lane.name])
            }
        }
        if let state = overview.state { write(state, to: &text) }
    }

    private static func write(_ state: GatewayState, to text: inout some MetricRows) {
        text.add(Families.stateTime, state.at.inSeconds)
        for lane in Lane.allCases {
            text.add(Families.outbox, Double(state.outbox[lane] ?? 0), ["lane": lane.name])
        }
        if let oldest = state.oldestUnsentAt { text.add(Families.oldest, oldest.inSeconds) }
        // A counter that appears with its first loss would not rise.
        let losses = Dictionary(
            (Lane.allCases.map(\.name) + ["quarantined", "refused"]).map { ($0, 0) }
        ) { first, _ in first }
        for (name, count) in losses.merging(state.dropped, uniquingKeysWith: { $1 }).sorted(by: { $0.key < $1.key }) {
            text.add(Families.dropped, Double(count), ["class": name])
        }
        text.add(Families.quarantined, Double(state.quarantined))
        text.add(Families.storeSize, Double(state.storeBytes))
        guard let statistics = state.statistics else { return }
        for activity in StatisticsState.Activity.allCases {
            text.add(Families.statistics, activity == statistics.activity ? 1 : 0, ["state": activity.rawValue])
        }
        text.add(Families.statisticsDue, Double(statistics.due))
        if let time = statistics.importedAt { text.add(Families.statisticsTime, time.inSeconds) }
    }

    // MARK: - A device

    private static func write(
        _ overview: DeviceOverview, of device: DeviceID, withVitals hasVitals: Bool, to text: inout some MetricRows
    ) {
        let id = device.text
        if let link = overview.link {
            for phase in LinkState.Phase.allCases {
                text.add(Families.link, phase == link.phase ? 1 : 0, ["device": id, "state": phase.rawValue])
            }
            text.add(Families.attempts, Double(link.attempts), ["device": id])
            if let signal = link.signalStrength { text.add(Families.signal, Double(signal), ["device": id]) }
            if let skew = link.clockSkew { text.add(Families.skew, skew, ["device": id]) }
        }
        if let isOnline = overview.isOnline { text.add(Families.online, isOnline ? 1 : 0, ["device": id]) }
        if let time = overview.offlineAfter { text.add(Families.offlineAfter, time / .seconds(1), ["device": id]) }
        let samples = overview.latest.map(\.stored.sample)
        if let newest = samples.map(\.end).max() { text.add(Families.lastSample, newest.inSeconds, ["device": id]) }
        for sample in samples {
            guard let family = Families.percentages[sample.metric], let value = sample.value else { continue }
            text.add(family, value / 100, ["device": id])
        }
        if let sync = overview.sync {
            if let time = sync.lastSuccessAt { text.add(Families.lastSync, time.inSeconds, ["device": id]) }
            let refused = sync.rows.reduce(0) { $0 + $1.refused.count }
            text.add(Families.refusedRecords, Double(refused), ["device": id])
            for (reason, count) in sync.skipped.sorted(by: { $0.key < $1.key }) {
                text.add(Families.skipped, Double(count), ["device": id, "reason": reason])
            }
        }
        guard hasVitals else { return }
        for state in overview.latest where !state.isStale && Families.percentages[state.stored.sample.metric] == nil {
            let sample = state.stored.sample
            let metric = sample.metric.rawValue
            if let value = sample.value {
                text.add(Families.vital, value, ["device": id, "metric": metric, "unit": sample.metric.unit ?? ""])
            } else if case .bloodPressure(let pressure) = sample.reading {
                for (name, value) in [("systolic", pressure.systolic), ("diastolic", pressure.diastolic)] {
                    text.add(Families.vital, value, ["device": id, "metric": "\(metric)_\(name)", "unit": "mmHg"])
                }
            }
            text.add(Families.vitalTime, sample.end.inSeconds, ["device": id, "metric": metric])
        }
    }
}

extension Timestamp {
    /// Unix time in seconds, as Prometheus has it.
    fileprivate var inSeconds: Double { Double(milliseconds) / 1000 }
}

/// The metrics, each with its help text.
private enum Families {
    static let info = MetricFamily("info", "Always 1; version of the gateway, and of MQTT while it is connected.")
    static let start = MetricFamily("start_timestamp_seconds", "When the gateway started.")
    static let clock = MetricFamily("clock_timestamp_seconds", "The time by the gateway's clock.")
    static let clockSynchronised = MetricFamily("clock_synchronized", "Whether a time service keeps the clock right.")
    static let ready = MetricFamily("ready", "Whether nothing is late, as /health/ready says it.")
    static let lateParts = MetricFamily("late_parts", "Number of late parts, with the broker and offline devices.")
    static let late = MetricFamily("part_late", "1 for each of the late parts.")
    static let broker = MetricFamily("broker_connected", "Whether the gateway is connected with the broker.")
    static let refusedConfiguration = MetricFamily(
        "configuration_refused", "Whether the last changed configuration was refused.")
    static let free = MetricFamily("store_disk_free_bytes", "Bytes that may still be written beside the store.")
    static let inFlight = MetricFamily("in_flight_messages", "Messages that the broker has not acknowledged yet.")
    static let pipeline = MetricFamily(
        "pipeline_messages_total", "Messages that have passed a stage since the start, by lane.", kind: .counter)
    static let stateTime = MetricFamily(
        "state_timestamp_seconds", "When the figures of outbox, losses and store last changed.")
    static let outbox = MetricFamily("outbox_messages", "Messages that wait for the broker, by lane.")
    static let oldest = MetricFamily("outbox_oldest_timestamp_seconds", "When the oldest waiting message was made.")
    static let dropped = MetricFamily(
        "dropped_total", "Losses since the store was made, by class.", kind: .counter)
    static let quarantined = MetricFamily("quarantined_messages", "Messages that the broker does not take.")
    static let storeSize = MetricFamily("store_size_bytes", "Size of the store's files.")
    static let statistics = MetricFamily("statistics_state", "1 for what the import into Home Assistant does.")
    static let statisticsDue = MetricFamily("statistics_due_series", "Series with hours to import.")
    static let statisticsTime = MetricFamily(
        "statistics_last_import_timestamp_seconds", "When an import of a series was last complete.")
    static let devices = MetricFamily("devices", "Number of devices.")
    static let omitted = MetricFamily("metrics_omitted_devices", "Devices that have no rows here, for want of room.")

    static let link = MetricFamily("device_link_state", "1 for the state of the device's link.")
    static let attempts = MetricFamily("device_link_attempts", "Attempts to connect since the last connection.")
    static let signal = MetricFamily("device_signal_strength_dbm", "Strength of the device's radio signal.")
    static let skew = MetricFamily("device_clock_skew_seconds", "How far the device's clock was ahead.")
    static let online = MetricFamily("device_online", "Whether the device was heard within its time.")
    static let offlineAfter = MetricFamily(
        "device_offline_after_seconds", "The silence after which the device is offline.")
    static let lastSample = MetricFamily(
        "device_last_sample_timestamp_seconds", "When the device's newest sample was measured.")
    static let battery = MetricFamily("device_battery_ratio", "The charge of the device's battery, 0 to 1.")
    /// The families of metrics that are no values of a person: per cent of the device itself.
    static let percentages: [Metric: MetricFamily] = [.battery: battery]
    static let lastSync = MetricFamily(
        "device_last_sync_timestamp_seconds", "When the device's history was last read without a failure.")
    static let refusedRecords = MetricFamily(
        "device_refused_records", "Records that the newest synchronisation has refused.")
    static let skipped = MetricFamily(
        "device_skipped_samples_total", "Values of the device dropped since the start, by reason.", kind: .counter)
    static let vital = MetricFamily("vital_value", "The newest fresh value of a metric, in its own unit.")
    static let vitalTime = MetricFamily("vital_timestamp_seconds", "When this value was measured.")
}
