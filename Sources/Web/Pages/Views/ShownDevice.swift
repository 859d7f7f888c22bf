import Vitals

/// A device with its newest states, as pages show it.
struct ShownDevice: Sendable {
    let configured: ConfiguredDevice
    private(set) var info: DeviceInfo?
    private(set) var isOnline: Bool?
    private(set) var link: LinkState?
    /// The newest value of each metric.
    private(set) var latest: [Metric: LatestState] = [:]
    /// The newest values of other wearers than the last one.
    var others: [LatestState] = []
    /// The running day of each metric.
    private(set) var today: [Metric: DayRecord] = [:]
    private(set) var levels: [AlertLevel] = []
    private(set) var twin: TwinState?
    private(set) var sync: SyncState?
    private(set) var measure: MeasureState?
    private(set) var wear: WearState?
    private(set) var pairing: PairingState?
    private(set) var whose: WhoseState?

    init(_ configured: ConfiguredDevice, _ states: [DeviceState]) {
        self.configured = configured
        for state in states {
            switch state {
            case .info(let info): self.info = info
            case .availability(let isOnline): self.isOnline = isOnline
            case .link(let link): self.link = link
            case .latest(let latest): self.latest[latest.stored.sample.metric] = latest
            case .today(let record): today[record.summary.metric] = record
            case .level(let level): levels.append(level)
            case .config(let twin): self.twin = twin
            case .sync(let sync): self.sync = sync
            case .measure(let measure): self.measure = measure
            case .wear(let wear): self.wear = wear
            case .pairing(let pairing): self.pairing = pairing
            case .whose(let whose): self.whose = whose
            }
        }
        levels.sort { $0.rule.name < $1.rule.name }
    }

    var id: DeviceID { configured.id }
    var name: String { configured.name }
    var path: String { "devices/\(id)" }
    var capabilities: Capabilities? { info?.capabilities }

    /// Whose a sample with this user slot is.
    func person(user: Int?) -> String? {
        Wearers(person: configured.person, people: configured.people).person(user: user)
    }

    /// All who wear it.
    var persons: [String] {
        let all = [configured.person].compactMap { $0 } + configured.people.sorted { $0.key < $1.key }.map(\.value)
        return all.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// When something of it last arrived, as far as the states say it.
    var heardAt: Timestamp? {
        (latest.values.map(\.stored.receivedAt) + [sync?.lastSuccessAt, wear?.at].compactMap { $0 }).max()
    }

    /// The newest metrics, in the order of the table.
    var metrics: [Metric] { Metric.allCases.filter { latest[$0] != nil || capabilities?.supports($0) ?? false } }

    // MARK: - Parts of pages

    /// Its condition, in a list.
    func row(_ clock: PageClock) -> DeviceRow {
        var marks: [Mark] = []
        if isOnline == false { marks.append(Mark("offline", .warn)) }
        switch link?.phase {
        case .connected: marks.append(Mark("connected", .good))
        case .connecting: marks.append(Mark("connecting"))
        case .waiting: marks.append(Mark("not connected"))
        case .disabled: marks.append(Mark("disabled"))
        case nil: break
        }
        if let isWorn = wear?.isWorn { marks.append(Mark(isWorn ? "worn" : "not worn")) }
        if wear?.isCharging == true { marks.append(Mark("charging")) }
        if let twin, !twin.pending.isEmpty {
            marks.append(Mark("\(NumberText.count(twin.pending.count, "setting")) pending", .warn))
        }
        if let twin, !twin.drift.isEmpty { marks.append(Mark("changed on the device", .warn)) }
        let charge = latest[.battery].flatMap { $0.isStale ? nil : $0.stored.sample.value }
        return DeviceRow(
            key: "device.\(id)", name: name, link: path, marks: marks,
            battery: charge.map { "\(NumberText.of($0)) %" }, heard: heardAt.map { clock.moment($0) })
    }

    /// The alerts that are active.
    func alerts(_ clock: PageClock) -> [ActiveAlert] {
        levels.filter(\.isActive).map { level in
            ActiveAlert(
                rule: Wording.name(of: level.rule), person: person(user: level.user), device: id.text, deviceName: name,
                edge: level.lastID?.description ?? "",
                value: level.value.map { Wording.text($0, of: level.rule) },
                limit: level.limit.map { Wording.text($0, of: level.rule) },
                raised: clock.moment(level.raisedAt ?? level.since),
                acknowledged: level.acknowledgement.map {
                    Acknowledgement(by: $0.person.isEmpty ? nil : $0.person, time: clock.moment($0.at))
                })
        }
    }

    /// The synchronisation.
    func syncPanel(_ clock: PageClock) -> SyncPanel {
        let isRunning = sync?.phase == .syncing
        var text = "Not synchronised yet."
        if isRunning {
            text = sync?.metric.map { "Reading \(Wording.name(of: $0).lowercased())." } ?? "Beginning."
        } else if let percent = sync?.importPercent {
            text = "Reading an export: \(percent) %."
        } else if let at = sync?.lastSuccessAt {
            text = "Last one: \(clock.moment(at).text)"
            text +=
                (sync?.rows ?? []).isEmpty
                ? "." : ", \(NumberText.count(sync?.samplesNew ?? 0, "new record")), \(sync?.samplesKnown ?? 0) known."
        }
        return SyncPanel(
            key: "sync.\(id)", id: id.text, isRunning: isRunning, text: text, done: sync?.metricsDone ?? 0,
            total: max(sync?.metricsTotal ?? 0, 1), rows: (sync?.rows ?? []).map(Self.syncRow),
            problem: isRunning ? nil : sync?.error)
    }

    private static func syncRow(_ row: SyncState.Row) -> Row {
        let mark =
            switch row.state {
            case .waiting: Mark("waiting")
            case .reading: Mark("reading")
            case .done: Mark("done", .good)
            case .failed: Mark("failed", .bad)
            case .unsupported: Mark("not on the device")
            }
        var parts = ["\(NumberText.of(Double(row.new))) new", "\(NumberText.of(Double(row.known))) known"]
        if !row.refused.isEmpty { parts.append("\(row.refused.count) refused") }
        if row.postponed > 0 { parts.append("\(row.postponed) later") }
        if let error = row.error { parts = [error.message] }
        return Row(label: Wording.name(of: row.metric), mark: mark, text: parts.joined(separator: ", "))
    }

    /// The measurement on demand; `nil` if the device measures nothing.
    func measurePanel(_ clock: PageClock) -> MeasurePanel? {
        let metrics = capabilities?.metrics(with: .measure) ?? []
        guard !metrics.isEmpty else { return nil }
        let isRunning = measure?.phase == .starting || measure?.phase == .measuring
        let name = measure?.metric.map { Wording.name(of: $0).lowercased() } ?? ""
        let text =
            switch measure?.phase {
            case .starting: "Starting: \(name)"
            case .measuring: "Measuring: \(name)"
            case .ended: "Ended: \(name)"
            case .failed: "Failed: \(name)"
            case .idle, nil: "No measurement yet"
            }
        let reading = measure?.newest.map { sample in
            Figure(
                label: Wording.name(of: sample.metric), text: Wording.text(of: sample),
                unit: Wording.unit(of: sample.metric), remark: nil)
        }
        return MeasurePanel(
            key: "measure.\(id)", id: id.text, isRunning: isRunning,
            metrics: metrics.map {
                Choice(value: $0.rawValue, name: Wording.name(of: $0), isChosen: $0 == measure?.metric)
            },
            text: text, reading: reading,
            started: isRunning ? measure?.startedAt.map { clock.moment($0) } : nil,
            problem: isRunning ? nil : measure?.error)
    }

    /// The pairing; `nil` where no passkey is asked for.
    func pairingPanel(_ clock: PageClock) -> PairingPanel? {
        guard let pairing, pairing.phase != .idle else { return nil }
        let text =
            switch pairing.phase {
            case .idle, .passkey: "The device shows six digits."
            case .checking: "The device checks the digits."
            case .paired: "Paired."
            case .failed: "The pairing has failed."
            }
        let until = pairing.phase == .passkey ? pairing.until.map { clock.moment($0) } : nil
        return PairingPanel(
            key: "pairing.\(id)", id: id.text, text: text, until: until, problem: pairing.message)
    }

    /// The samples that wait for their persons; `nil` without any.
    func whosePanel(_ clock: PageClock) -> WhosePanel? {
        guard let whose, !whose.questions.isEmpty else { return nil }
        let questions = whose.questions.map { question in
            let candidates = question.candidates.compactMap { person(user: $0) }
            return WhosePanel.Question(
                sample: question.id.description, device: id.text, what: Wording.name(of: question.metric),
                measured: clock.moment(question.measuredAt),
                persons: candidates + persons.filter { !candidates.contains($0) })
        }
        return WhosePanel(
            key: "whose.\(id)", questions: questions, more: whose.hasMore ? "More of them wait." : nil)
    }

    /// What it is.
    func facts(_ clock: PageClock) -> [Figure] {
        var facts: [Figure] = []
        func add(_ label: String, _ text: String?, _ remark: String? = nil) {
            guard let text, !text.isEmpty else { return }
            facts.append(Figure(label: label, text: text, unit: nil, remark: remark))
        }
        add(persons.count > 1 ? "Persons" : "Person", persons.joined(separator: ", "))
        let identity = info?.identity
        add("Maker", identity?.manufacturer)
        add("Model", [identity?.model, identity?.hardware].compactMap { $0 }.joined(separator: ", "))
        add("Firmware", identity?.firmware)
        add("Serial", identity?.serial)
        add("Driver", configured.driver, info?.transport.map { "over \($0)" })
        add("Id", id.text)
        add("Keeps its history for", capabilities?.maximumHistoryDays.map { NumberText.count($0, "day") })
        add("Signal", link?.signalStrength.map { "\(NumberText.of(Double($0))) dBm" })
        let skew = link?.clockSkew.map { skew in
            "\(NumberText.of(abs(skew), decimals: 1)) s \(skew < 0 ? "behind" : "ahead")"
        }
        add("Clock", skew, "at the last connection")
        if let error = link?.lastError { add("Last error of the link", error) }
        return facts
    }
}

extension Wording {
    /// A value with its unit: `112 bpm`.
    static func text(_ value: Double, of rule: AlertRule) -> String {
        let decimals = rule.subject == .rate ? 1 : rule.metric.decimals
        let text = NumberText.of(value, decimals: value == value.rounded() ? 0 : decimals)
        return rule.unit.map { "\(text) \($0)" } ?? text
    }
}
