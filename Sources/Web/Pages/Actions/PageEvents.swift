import Vitals

// Live values: `GET events?page=<the page's own path>&since=<when it was made>`, server-sent events. What the script does with them stands
// in `live.js`.

/// What templates of parts are rendered from, where these are parts of a page's model.
struct ConcernList: Hashable, Sendable {
    var concerns: [Notice]
}

extension PageSite {
    /// How often a stream looks for changes: what changes meanwhile is sent together.
    static let eventInterval: Duration = .seconds(1)
    /// After this time without a change a stream sends an empty line, so that proxies keep it open and a lost one is noticed.
    static let heartbeat: Duration = .seconds(15)
    /// After this time a stream ends, and the browser opens another one: rights and sessions are looked at again.
    static let longestStream: Duration = .hours(1)

    func events(_ visit: Visit, _ rights: PageRights) -> WebAnswer {
        guard let target = Visit.target(visit.query["page"]) ?? (visit.query["page"] == "" ? "" : nil),
            let place = PagePlace("/\(target.prefix { $0 != "?" })")
        else { return WebAnswer(400, text: "page is missing; the path of a page is needed here.") }
        guard memory.beginStream() else { return .busy("Too many pages are open. Try again later.") }
        let since =
            visit.request.header("Last-Event-ID").flatMap { Timestamp(rfc3339: $0) }
            ?? visit.query["since"].flatMap { Timestamp(rfc3339: $0) } ?? visit.clock.now
        var answer = WebAnswer("text/event-stream") { write in
            try await self.stream(
                LivePages.Key(place: place, rights: rights), since: since, session: visit.session.id, write)
        }
        answer.headers = PageHeaders.all(isFramed: visit.isFramed) + [(name: "X-Accel-Buffering", value: "no")]
        answer.onEnd = { [memory] in memory.endStream() }
        return answer
    }

    private func stream(
        _ key: LivePages.Key, since: Timestamp, session: String, _ write: WebAnswer.Writer
    ) async throws {
        let begun = settings.clock.uptime
        var (since, sentAt) = (since, begun)
        var devices: [DeviceID]?
        try await write(Array(": live\n\n".utf8))
        while settings.clock.uptime - begun < Self.longestStream {
            let (now, uptime) = (settings.clock.now, settings.clock.uptime)
            // Whoever may see less now, or nothing, gets no further part of what was open before.
            guard memory.isCurrent(access), memory.sessions.isOpen(session, at: uptime) else {
                return try await write(Self.event("reload", at: now))
            }
            let edition = await memory.live.edition(of: key, changes: changes, at: now, uptime) {
                await self.content(of: key, at: now)
            }
            if let devices, devices != edition.devices { return try await write(Self.event("reload", at: now)) }
            devices = edition.devices
            var bytes: [UInt8] = []
            for part in edition.parts where part.changedAt > since {
                bytes += Self.event("part", at: edition.madeAt, part.html)
            }
            if !bytes.isEmpty {
                since = edition.madeAt
                try await write(bytes)
                sentAt = uptime
            } else if uptime - sentAt >= Self.heartbeat {
                try await write(Array(":\n\n".utf8))
                sentAt = uptime
            }
            try await settings.clock.sleep(for: Self.eventInterval)
        }
    }

    /// How much has changed, in the gateway and in what the pages remember.
    private var changes: Int { settings.view.changes &+ memory.changes }

    /// An event of the stream.
    static func event(_ name: String, at moment: Timestamp, _ html: String = "") -> [UInt8] {
        let lines = html.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        return Array("event: \(name)\nid: \(moment)\n\(lines.map { "data: \($0)\n" }.joined())\n".utf8)
    }

    /// The parts of a page. Those of a page that changes only with the store have none.
    func content(of key: LivePages.Key, at now: Timestamp) async -> LivePages.Content {
        let clock = PageClock(now: now, calendar: settings.calendar, hasAges: false)
        switch key.place {
        case .overview:
            let devices = memory.wearers.complete(await sources.devices(key.rights), at: now)
            // Without the store the newest sleep is the last night.
            try? await memory.sleeps.refresh(devices, from: sources, at: now)
            return LivePages.Content(devices: devices.map(\.id), parts: overviewParts(devices, key.rights, clock))
        case .device(let id, let section):
            guard let device = await sources.device(id, key.rights) else { break }
            return LivePages.Content(devices: [id], parts: deviceParts(device, section, clock))
        case .gateway where key.rights.isEverything:
            return LivePages.Content(devices: [], parts: gatewayParts(clock))
        case .add(.near) where key.rights.isEverything:
            return LivePages.Content(
                devices: [], parts: [LivePart("scan", "scan", AddBuilder.near(memory.scan, clock))])
        default: break
        }
        return LivePages.Content(devices: [], parts: [])
    }

    private func overviewParts(_ devices: [ShownDevice], _ rights: PageRights, _ clock: PageClock) -> [LivePart] {
        let builder = OverviewBuilder(
            devices: devices, clock: clock, rights: rights, sparklines: memory.sparklines.drawn,
            sleeps: memory.sleeps.read)
        let concerns = ConcernList(
            concerns: builder.concerns(settings.view.overview, late: settings.view.late))
        var parts = [
            LivePart("alerts", "alerts", builder.alerts()), LivePart("concerns", "concerns", concerns),
        ]
        for person in builder.people() {
            parts += person.values.map { LivePart($0.key, "tile", $0) }
            if let sums = person.sums { parts.append(LivePart(sums.key, "sums", sums)) }
            if let night = person.lastNight { parts.append(LivePart(night.key, "night", night)) }
        }
        parts += devices.map { device in
            let row = device.row(clock)
            return LivePart(row.key, "state", row)
        }
        return parts
    }

    private func deviceParts(_ device: ShownDevice, _ section: DeviceSection, _ clock: PageClock) -> [LivePart] {
        let head = DeviceBuilder(device: device, sources: sources, clock: clock, query: FormFields()).head(section)
        var parts = [
            LivePart(head.state.key, "state", head.state), LivePart(head.warnings.key, "alerts", head.warnings),
            LivePart(head.sync.key, "sync", head.sync), LivePart(head.tabs.key, "tabs", head.tabs),
        ]
        if let measure = head.measure { parts.append(LivePart(measure.key, "measure", measure)) }
        if let pairing = head.pairing { parts.append(LivePart(pairing.key, "pairing", pairing)) }
        if let whose = head.whose { parts.append(LivePart(whose.key, "whose", whose)) }
        if section == .settings {
            let builder = SettingsBuilder(device: device)
            parts.append(LivePart(builder.status.key, "status", builder.status))
            parts += builder.conditions.map { LivePart($0.key, "condition", $0) }
        }
        return parts
    }

    private func gatewayParts(_ clock: PageClock) -> [LivePart] {
        let visit = Frame(
            title: "", gateway: "", version: "", assets: "", base: "", path: "", token: "", places: [],
            made: clock.moment(.earliest), canSignOut: false, isLive: true, notice: nil)
        let page = gatewayBuilder(clock).page(visit)
        return page.panels.map { LivePart($0.key, "panel", $0) } + [
            LivePart("gateway.condition", "gatewaycondition", page), LivePart("gateway.outbox", "outbox", page),
            LivePart("gateway.parts", "parts", page), LivePart("gateway.doctor", "doctor", page.doctor),
            LivePart("gateway.log", "log", page),
        ]
    }
}
