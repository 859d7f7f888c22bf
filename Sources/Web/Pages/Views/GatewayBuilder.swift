package import GatewayKit
package import Vitals

/// What the page of the gateway shows beside `GatewayView`: its log, and what its doctor says.
package protocol GatewayInspector: Sendable {
    /// The newest lines of the log, the last one first, without a value of health.
    var log: [LogLine] { get }
    /// Asks the doctor, which takes up to half a minute.
    func examine() async -> [Finding]
}

/// A line of the log.
package struct LogLine: Sendable, Hashable {
    package var time: Timestamp
    /// `info`, `warning`, `error` and their like.
    package var level: String
    package var text: String
    /// `device=ring-1 attempts=3`; `nil` without any.
    package var details: String?

    package init(time: Timestamp, level: String, text: String, details: String? = nil) {
        self.time = time
        self.level = level
        self.text = text
        self.details = details
    }
}

/// Makes the page of the gateway.
struct GatewayBuilder: Sendable {
    /// The most lines of the log.
    static let maximumLines = 100
    /// The most parts that are named.
    static let maximumParts = 100

    let overview: GatewayOverview
    let late: [String]
    let log: [LogLine]
    let doctor: DoctorRun
    let clock: PageClock

    /// What the doctor does.
    struct DoctorRun: Sendable, Hashable {
        var asked: Timestamp?
        var isRunning = false
        var findings: [Finding] = []
    }

    func page(_ frame: Frame) -> GatewayPage {
        GatewayPage(
            frame: frame, condition: condition, parts: parts, lanes: lanes, dropped: dropped, panels: panels,
            doctor: doctorPanel, log: lines)
    }

    /// How the gateway is, in a sentence.
    var condition: Notice {
        let own = late.filter { !$0.hasPrefix("device.") && $0 != "broker" && $0 != "start" }
        if late.contains("start") { return Notice("The gateway is starting.", .warn) }
        if !own.isEmpty { return Notice("Parts of the gateway do not answer, or are denied.", .bad) }
        if overview.isConfigurationRefused {
            return Notice("The changed configuration has errors, and was not applied.", .bad)
        }
        if !overview.isConnected { return Notice("The broker is not connected; what was measured waits.", .warn) }
        let devices = late.count { $0.hasPrefix("device.") }
        return devices == 0
            ? Notice("All is well.", .good)
            : Notice("The gateway is well; \(NumberText.count(devices, "device")) offline.", .plain)
    }

    private var parts: [Row] {
        guard !late.isEmpty else { return [Row(label: "All parts", mark: Mark("answer", .good), text: "")] }
        return late.prefix(Self.maximumParts).map { name in
            let words = name.split { $0 == "_" || $0 == "." }.joined(separator: " ")
            return Row(label: words, mark: Mark(name.hasPrefix("device.") ? "offline" : "late", .warn), text: "")
        }
    }

    private var lanes: [LaneRow] {
        Lane.allCases.map { lane in
            let counts = overview.lanes[lane] ?? LaneCounts()
            return LaneRow(
                label: lane.name.prefix(1).uppercased() + lane.name.dropFirst(),
                waiting: overview.state?.outbox[lane].map { NumberText.of(Double($0)) } ?? "–",
                sent: NumberText.of(Double(counts.sent)), acknowledged: NumberText.of(Double(counts.acknowledged)))
        }
    }

    private var dropped: [String] {
        var texts = (overview.state?.dropped ?? [:]).sorted { $0.key < $1.key }
            .map { "\(NumberText.count($0.value, "item")) of \($0.key) dropped" }
        if let count = overview.state?.quarantined, count > 0 {
            texts.append("\(NumberText.count(count, "fact")) that the broker does not take, kept for a replay")
        }
        return texts
    }

    private var panels: [FigurePanel] {
        func figure(_ label: String, _ text: String?) -> Figure? {
            text.map { Figure(label: label, text: $0, unit: nil, remark: nil) }
        }
        let state = overview.state
        let broker = [
            figure("Connection", overview.isConnected ? "connected" : "not connected"),
            figure("MQTT", state?.protocolVersion), figure("Under way", NumberText.count(overview.inFlight, "message")),
            figure("Oldest that waits", state?.oldestUnsentAt.map { clock.moment($0).text }),
            figure("Last error", state?.lastError),
        ]
        let store = [
            figure("Store", state.map { NumberText.bytes($0.storeBytes) }),
            figure("Free on its disk", overview.freeBytes.map { NumberText.bytes(Int64($0)) }),
        ]
        let program = [
            figure("Version", overview.version), figure("Running since", clock.moment(overview.startedAt).text),
            figure("Clock", overview.isClockSynchronised.map { $0 ? "synchronised" : "not synchronised" }),
            figure("Time zone", clock.calendar.identifier),
            figure("Configuration", overview.isConfigurationRefused ? "the last change was refused" : nil),
        ]
        let statistics = state?.statistics.map { statistics in
            [
                figure("Import", statistics.activity.rawValue),
                figure("Series that are due", NumberText.of(Double(statistics.due))),
                figure("Last one", statistics.importedAt.map { clock.moment($0).text }),
                figure("Problem", statistics.problem),
            ]
        }
        var panels = [
            FigurePanel(key: "gateway.broker", heading: "Broker", figures: broker.compactMap { $0 }),
            FigurePanel(key: "gateway.store", heading: "Store", figures: store.compactMap { $0 }),
            FigurePanel(key: "gateway.program", heading: "Program", figures: program.compactMap { $0 }),
        ]
        if let statistics {
            panels.append(
                FigurePanel(
                    key: "gateway.statistics", heading: "Home Assistant", figures: statistics.compactMap { $0 }))
        }
        return panels
    }

    private var doctorPanel: DoctorPanel {
        DoctorPanel(
            asked: doctor.asked.map { clock.moment($0) }, isRunning: doctor.isRunning,
            findings: doctor.findings.map { finding in
                let mark =
                    switch finding.severity {
                    case .fine: Mark("good", .good)
                    case .warning: Mark("look", .warn)
                    case .problem: Mark("bad", .bad)
                    }
                return Row(label: finding.subject, mark: mark, text: finding.text)
            })
    }

    private var lines: [LogRow] {
        log.prefix(Self.maximumLines).map { line in
            let tone: Tone =
                switch line.level {
                case "error", "critical": .bad
                case "warning": .warn
                default: .plain
                }
            return LogRow(
                time: clock.moment(line.time), mark: Mark(line.level, tone), text: line.text, details: line.details)
        }
    }
}
