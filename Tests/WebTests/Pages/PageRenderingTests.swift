import GatewayKit
import HTTPTypes
import TestSupport
import Testing
import Vitals

@testable import Web

/// Every page, with nothing, with values, and with what a stranger wrote.
@Suite struct PageRenderingTests {
    /// The most bytes of a page of one device.
    private static let largestPage = 1 << 20

    private func text(_ answer: WebAnswer) -> String { String(decoding: answer.body, as: UTF8.self) }

    @Test func `every template parses`() throws {
        for name in PageTemplates.sources.keys.sorted() {
            let bytes = try #require(PageTemplates.sources[name])
            _ = try PageTemplates([name: bytes])
        }
        #expect(PageTemplates.current != nil)
        let mistake = #expect(throws: PageTemplates.Mistake.self) {
            _ = try PageTemplates(["bad": Array("{{#open}}".utf8)])
        }
        #expect(mistake?.description.hasPrefix("The template bad does not parse: ") == true)
    }

    @Test func `every page is there without a value, and says so`() async throws {
        let household = try ShownHousehold()
        let browser = ShownBrowser(household)
        #expect(await browser.text("/").contains("No devices yet"))
        household.reader.set { state in
            if let id = DeviceID("band-1") {
                state.devices = [ConfiguredDevice(id: id, name: "Band", driver: "simulator")]
            }
        }
        for page in ShownHousehold.pages where !page.contains("/nights/2") {
            let answer = await browser.get(page)
            #expect(answer.status == 200, "\(page)")
            #expect(text(answer).contains("</html>"), "\(page)")
        }
        #expect(await browser.get("/devices/band-1/nights/2025-11-20").status == 404)
        #expect(await browser.text("/").contains("Nobody in particular"))
    }

    @Test func `every page shows what there is`() async throws {
        let household = try ShownHousehold()
        try household.addBand()
        let browser = ShownBrowser(household)
        for page in ShownHousehold.pages {
            let answer = await browser.get(page)
            #expect(answer.status == 200, "\(page)")
            #expect(answer.body.count < Self.largestPage, "\(page)")
        }
        let overview = await browser.text("/")
        for words in ["Anna", "121/78", "1,214", "Heart rate at rest is high", "112 bpm", "64 %", "7 h"] {
            #expect(overview.contains(words), "\(words)")
        }
        #expect(await browser.text("/devices/band-1/nights").contains("plot-stage-deep"))
        #expect(await browser.text("/devices/band-1/workouts?range=month&end=2025-11-20").contains("42 min"))
        #expect(await browser.text("/devices/band-1/values").contains(#"data-plot="line""#))
        #expect(await browser.text("/devices/band-1/values?metric=heart_rate").contains("As a table"))
        let alerts = await browser.text("/devices/band-1/alerts?range=month&end=2025-11-21")
        #expect(alerts.contains("112 bpm") && alerts.contains(", Dora"))
        let settings = await browser.text("/devices/band-1/settings")
        #expect(settings.contains(#"name="heart_rate.resting_alert.upper""#))
        #expect(settings.contains("waiting"))
        let losses = await browser.text("/devices/band-1/losses")
        #expect(losses.contains("beyond what the driver reads at once"))
        #expect(losses.contains("1 record has a value or a time that cannot be"))
    }

    @Test func `what a stranger wrote stays text on every page`() async throws {
        let household = try ShownHousehold()
        try household.addBand(name: hostileText, person: hostileText)
        let browser = ShownBrowser(household)
        household.memory.endScan(try await household.adder.scan(), problem: hostileText, at: household.now)
        household.memory.endDoctor(await ShownInspector().examine(), at: household.now)
        for page in ShownHousehold.pages {
            let html = await browser.text(page)
            #expect(!html.contains("<script>"), "\(page)")
            #expect(!html.contains("<img"), "\(page)")
            #expect(!html.contains("&amp;amp;amp;"), "\(page): nothing is escaped twice")
            #expect(html.contains("{{frame.token}}") || !html.contains("alert(1)"), "\(page): no text is a template")
        }
    }

    @Test func `no page has a script, a style or a value of its own in one`() async throws {
        let household = try ShownHousehold()
        try household.addBand()
        let browser = ShownBrowser(household)
        for page in ShownHousehold.pages {
            let html = await browser.text(page)
            for match in html.matches(of: #/<script[^>]*>([^<]*)/#) { #expect(match.1.isEmpty, "\(page)") }
            #expect(!html.contains("<style"), "\(page)")
            // What is quoted or escaped is text.
            let tags = html.replacing(#/"[^"]*"/#, with: "")
            let handler = tags.firstMatch(of: #/<[^>]*\s(on[a-z]+|style)=[^>]*/#)
            #expect(handler == nil, "\(page): \(handler?.output.0 ?? "")")
        }
    }

    @Test func `every page has the headers that keep a browser from running and showing anything else`() async throws {
        let household = try ShownHousehold()
        try household.addBand()
        let browser = ShownBrowser(household)
        for page in ShownHousehold.pages + ["/nothing", "/sign-in", "/events?page="] {
            let answer = await browser.get(page)
            let policy = try #require(answer.value("Content-Security-Policy"), "\(page)")
            #expect(policy.hasPrefix("default-src 'none'"))
            #expect(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"))
            #expect(answer.value("Cache-Control") == "no-store")
            #expect(answer.value("X-Frame-Options") == "DENY")
            #expect(answer.value("Referrer-Policy") == "same-origin")
            answer.onEnd()
        }
    }

    @Test(arguments: [
        "/devices/../etc/passwd", "/devices/band-1/../../", "//evil.example", "/assets/../Package.swift",
        "/assets/%2e%2e",
        "/devices/BAND-1", "/devices/band-1/values/x", "/assets/", "/.git/config", "/devices/band-1/nights/2025-02-30",
        "/gateway/doctor", "/add/check", "/" + String(repeating: "a", count: 300),
    ]) func `a path that is none of the pages leads nowhere`(path: String) async throws {
        let household = try ShownHousehold()
        try household.addBand()
        #expect(await ShownBrowser(household).get(path).status == 404)
        #expect(!(await ShownBrowser(household).text("/javascript:alert(1)").contains("javascript:")))
        #expect(await ShownBrowser(household).send("PUT", path, body: "").status == 405)
    }

    @Test func `style sheet and scripts are kept by their version, and are not sent again`() async throws {
        let household = try ShownHousehold()
        let browser = ShownBrowser(household)
        let version = PageAssets.current.version
        #expect(await browser.text("/").contains("assets/style.css?\(version)"))
        let answer = await browser.get("/assets/style.css?\(version)")
        #expect(answer.status == 200 && answer.contentType == "text/css; charset=utf-8" && !answer.body.isEmpty)
        #expect(answer.value("Cache-Control") == "public, max-age=\(PageAssets.age), immutable")
        #expect(await browser.get("/assets/live.js?old").value("Cache-Control") == "no-cache")
        browser.headers[.ifNoneMatch] = answer.value("ETag")
        let again = await browser.get("/assets/style.css")
        #expect(again.status == 304 && again.body.isEmpty)
    }

    @Test func `a store that cannot be read is said, and costs no other page`() async throws {
        let household = try ShownHousehold()
        try household.addBand()
        household.reader.set { $0.failure = StoreError(.unavailable, "The disk is gone.") }
        let browser = ShownBrowser(household)
        let answer = await browser.get("/devices/band-1/values")
        #expect(answer.status == 503 && text(answer).contains("The disk is gone."))
        #expect(await browser.get("/gateway").status == 200)
        #expect(await browser.get("/devices/band-1/settings").status == 200)
    }

    @Test func `a page reads the store in parts, and ends where there is too much`() async throws {
        let household = try ShownHousehold()
        try household.addBand()
        let device = try #require(DeviceID("band-1"))
        let start = household.now - .hours(1)
        household.reader.set { state in
            state.samples[.heartRate] = (0..<30_000).map { index in
                let moment = start + .milliseconds(index * 100)
                return StoredSample(
                    sample: Sample(metric: .heartRate, start: moment, reading: .value(70)), of: device, revision: 1,
                    receivedAt: moment)
            }
        }
        let html = await ShownBrowser(household).text("/devices/band-1/values?metric=heart_rate")
        #expect(html.contains("There are more values than a plot has"))
        #expect(html.matches(of: #/<tr>/#).count <= ValuesBuilder.maximumListed + 1)
        #expect(household.reader.seen.mostRows == PageSources.rows)
        #expect(household.reader.seen.readings == PageSources.maximumSamples / PageSources.rows)
    }

    @Test func `the overview draws a limited number of small plots, and keeps them for a while`() async throws {
        let household = try ShownHousehold()
        for number in 1...60 { try household.addBand("band-\(number)", name: "Band \(number)") }
        let browser = ShownBrowser(household)
        let html = await browser.text("/")
        #expect(html.matches(of: #/class="plot plot-spark"/#).count == Sparklines.maximum)
        let readings = household.reader.seen.readings
        _ = await browser.text("/")
        #expect(household.reader.seen.readings == readings)
        household.clock.advance(by: Sparklines.age)
        _ = await browser.text("/")
        #expect(household.reader.seen.readings > readings)
    }

    @Test func `of many devices that are offline the first ones are named`() async throws {
        let household = try ShownHousehold()
        household.reader.set { state in
            for number in 1...50 {
                guard let id = DeviceID("band-\(number)") else { continue }
                state.devices.append(ConfiguredDevice(id: id, name: "Band \(number)", driver: "simulator"))
                state.states[id] = [.availability(isOnline: false)]
            }
        }
        household.gateway.set { $0.overview.isConnected = true }
        let html = await ShownBrowser(household).text("/")
        #expect(html.matches(of: #/was never heard/#).count == OverviewBuilder.maximumConcerns)
        #expect(html.contains("And 30 more."))
    }

    @Test func `one part that does not answer is in the singular`() async throws {
        let household = try ShownHousehold()
        household.gateway.set { state in
            state.overview.isConnected = true
            state.late = ["store"]
        }
        #expect(await ShownBrowser(household).text("/").contains("1 part of the gateway does not answer."))
    }

    @Test func `the newest night is the last one for a day`() async throws {
        let household = try ShownHousehold()
        try household.addBand()
        let browser = ShownBrowser(household)
        #expect(await browser.text("/").contains("plot-stage-deep"))
        household.clock.advance(by: OverviewBuilder.nightAge)
        #expect(await browser.text("/").contains("Nothing known yet"))
    }

    /// Adds a sample that is the newest one of its metric.
    private func add(_ sample: Sample, to household: ShownHousehold) throws {
        let band = try #require(DeviceID("band-1"))
        let stored = StoredSample(sample: sample, of: band, revision: 1, receivedAt: sample.end)
        household.reader.set { state in
            state.samples[sample.metric, default: []].append(stored)
            state.states[band, default: []].removeAll { part in
                if case .latest(let latest) = part { latest.stored.sample.metric == sample.metric } else { false }
            }
            state.states[band, default: []].append(
                .latest(LatestState(stored: stored, freshUntil: nil, isStale: false)))
        }
        household.gateway.set { _ in }
    }

    @Test func `a nap after the night is not the last night, on the page and in what follows`() async throws {
        let household = try ShownHousehold()
        try household.addBand()
        let browser = ShownBrowser(household)
        #expect(await browser.text("/").contains("7 h"))
        let (start, end) = (household.now - .minutes(100), household.now - .minutes(70))
        let nap = Sleep(stages: [Sleep.Stage(.light, from: start, to: end)])
        try add(Sample(metric: .sleep, start: start, end: end, reading: .sleep(nap)), to: household)
        #expect(await browser.text("/").contains(#"<b class="value">7 h</b>"#))
        let content = await household.site.content(
            of: LivePages.Key(place: .overview, rights: .everything), at: household.now)
        let night = content.parts.first { $0.key == "night.person-1" }?.model as? NightCard
        #expect(night?.night?.asleep == "7 h")
    }

    @Test func `what a device for several has counted is said to be of all, and a guest's value is somewhere`()
        async throws
    {
        let household = try ShownHousehold()
        try household.addBand()
        let band = try #require(DeviceID("band-1"))
        household.reader.set { state in
            state.devices = [
                ConfiguredDevice(id: band, name: "Band", driver: "simulator", people: [1: "Anna", 2: "Ben"])
            ]
        }
        let start = household.now
        try add(Sample(metric: .heartRate, start: start, user: 2, reading: .value(87)), to: household)
        let html = await ShownBrowser(household).text("/")
        #expect(html.matches(of: #/1,214.*all who wear it together/#).count == 2)
        // The other values have no user.
        #expect(html.contains("Nobody in particular") && html.contains("121/78"))
        #expect(html.matches(of: #/data-live="sums/#).count == 2)
    }

    @Test func `an alert whose end is after the days that are shown is not shown as active`() async throws {
        let household = try ShownHousehold()
        try household.addBand()
        let moment = household.now - .days(30)
        household.reader.set { state in
            state.alerts.append(
                AlertEvent(
                    id: SampleID(name: "earlier"), rule: AlertRule(.heartRate, .resting, .high), edge: .raised,
                    value: 131, limit: 100, origin: .gateway, measuredAt: moment, raisedAt: moment, sampleID: nil))
        }
        let browser = ShownBrowser(household)
        let earlier = await browser.text("/devices/band-1/alerts?range=month&end=2025-10-22")
        #expect(earlier.contains("131 bpm") && earlier.contains(">over<") && !earlier.contains(">raised<"))
        #expect(await browser.text("/devices/band-1/alerts?range=month&end=2025-11-21").contains(">raised<"))
    }

    @Test func `what the newest synchronisation has refused is named once`() async throws {
        let household = try ShownHousehold()
        try household.addBand()
        let band = try #require(DeviceID("band-1"))
        let now = household.now
        var sync = SyncState(phase: .idle, lastSuccessAt: now - .minutes(12), skipped: [:])
        sync.startedAt = now - .minutes(13)
        var row = SyncState.Row(.heartRate, .done)
        row.refused.add(.malformed, start: now - .hours(1), end: now)
        sync.rows = [row]
        let state = DeviceState.sync(sync)
        household.reader.set { reader in
            reader.states[band, default: []].append(state)
            reader.gaps = [12, 2].map { minutes in
                Gap(
                    metric: .heartRate, from: nil, to: nil, count: 1, reason: .refused, at: now - .minutes(minutes),
                    refused: [.malformed: 1])
            }
        }
        let html = await ShownBrowser(household).text("/devices/band-1/losses")
        // One by the synchronisation, and one of a live value later.
        #expect(html.matches(of: #/Heart rate: 1 record cannot be read/#).count == 2)
    }

    @Test func `a day without a sleep has none of no minutes, and one without a step has 0`() throws {
        let day = try #require(LocalDay("2025-11-20"))
        func summary(_ metric: Metric, _ details: DailySummary.Details) -> DailySummary {
            DailySummary(metric: metric, day: day, count: 0, manualCount: 0, average: nil, details: details)
        }
        #expect(DayText.text(of: summary(.sleep, .sleep(DailySummary.SleepTotals()))) == "–")
        #expect(DayText.text(of: summary(.steps, .count(total: 0, distance: nil, energy: nil))) == "0")
    }

    @Test func `a gateway whose changed configuration was refused is not well`() async throws {
        let household = try ShownHousehold()
        household.gateway.set { state in
            state.overview.isConnected = true
            state.overview.isConfigurationRefused = true
        }
        let html = await ShownBrowser(household).text("/gateway")
        #expect(html.contains("was not applied") && !html.contains("All is well"))
    }

    @Test(arguments: [3, DeviceBuilder.nightReach, DeviceBuilder.nightReach + 1])
    func `a night leads to the nearest nights that there are`(days: Int) async throws {
        let household = try ShownHousehold()
        try household.addBand()
        let band = try #require(DeviceID("band-1"))
        let last = try #require(LocalDay("2025-11-20"))
        let first = last.advanced(by: -days)
        // The band's night ended two hours ago.
        let end = household.now - .hours(2) - .days(days)
        let sleep = Sleep(stages: [Sleep.Stage(.deep, from: end - .hours(7), to: end)])
        let sample = Sample(metric: .sleep, start: end - .hours(7), end: end, reading: .sleep(sleep))
        let stored = StoredSample(sample: sample, of: band, revision: 1, receivedAt: end)
        household.reader.set { $0.samples[.sleep]?.insert(stored, at: 0) }
        let browser = ShownBrowser(household)
        let isNear = days <= DeviceBuilder.nightReach
        let newer = await browser.text("/devices/band-1/nights/\(last)")
        #expect(newer.contains("nights/\(first)\" rel=\"prev\"") == isNear)
        #expect(newer.contains("rel=\"prev\"") == isNear && !newer.contains("rel=\"next\""))
        let older = await browser.text("/devices/band-1/nights/\(first)")
        #expect(older.contains("nights/\(last)\" rel=\"next\"") == isNear)
        #expect(older.contains("7 h") && !older.contains("rel=\"prev\""))
    }

    @Test func `the small plot of a device for several has the values of one wearer`() async throws {
        let household = try ShownHousehold()
        try household.addBand()
        let band = try #require(DeviceID("band-1"))
        let sample = Sample(
            metric: .heartRate, start: household.now - .seconds(90), user: 2, reading: .value(241))
        let stored = StoredSample(sample: sample, of: band, revision: 1, receivedAt: household.now)
        household.reader.set { $0.samples[.heartRate]?.append(stored) }
        let html = await ShownBrowser(household).text("/")
        #expect(html.contains("Between 60 bpm and 109 bpm"))
        #expect(!html.contains("241"))
    }

    @Test func `who has no device that knows sleep has no last night`() async throws {
        let household = try ShownHousehold()
        let scale = try #require(DeviceID("scale"))
        household.reader.set { $0.devices = [ConfiguredDevice(id: scale, name: "Scale", driver: "simulator")] }
        let html = await ShownBrowser(household).text("/")
        #expect(html.contains("Nobody in particular") && !html.contains("Last night"))
        #expect(!html.contains("nothing counted yet"))
    }

    @Test func `the alerts of a device are shown up to a number`() async throws {
        let household = try ShownHousehold()
        try household.addBand()
        let now = household.now
        household.reader.set { state in
            state.alerts = (0..<2 * DeviceBuilder.maximumAlerts).map { number in
                AlertEvent(
                    id: SampleID(name: "\(number)"), rule: AlertRule(.heartRate, .resting, .high), edge: .raised,
                    value: 112, limit: 100, origin: .gateway, measuredAt: now, raisedAt: now - .seconds(number),
                    sampleID: nil)
            }
        }
        let html = await ShownBrowser(household).text("/devices/band-1/alerts?range=month&end=2025-11-21")
        #expect(html.matches(of: #/Heart rate at rest is high <span/#).count == DeviceBuilder.maximumAlerts)
        #expect(html.contains("There were more alerts than a page has"))
    }
}
