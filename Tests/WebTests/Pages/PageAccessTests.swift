import GatewayKit
import HTTPTypes
import Listening
import TestSupport
import Testing
import Vitals

@testable import Web

/// Who may see the pages, and what others get.
@Suite struct PageAccessTests {
    /// A hash of another password, as `openssl passwd -6` makes it.
    private static let hash =
        "$6$vitals2mqtt$Sgm00wMUlg4j9f742aCMmccmBNyS3/hdBmoqIpv5IWjEaAhxLa0isTcTzXLCFAUlDIFmkmxv7/iqBUKOJ/vTE0"

    private func household(password: String? = Self.hash, isLoopback: Bool = false) throws -> ShownHousehold {
        let household = try ShownHousehold(access: try accessRule([:], password: password), isLoopback: isLoopback)
        try household.addBand()
        return household
    }

    /// A household whose password is `open sesame`.
    private func lockedHousehold() throws -> ShownHousehold {
        try household(password: try PasswordHash.make(of: "open sesame").text)
    }

    private func signedIn(_ household: ShownHousehold) async -> ShownBrowser {
        let browser = ShownBrowser(household)
        _ = await browser.get("/sign-in")
        _ = await browser.post("/sign-in", ["password": "open sesame"])
        return browser
    }

    @Test func `a hash is of one password, and of none that it was not made for`() throws {
        let hash = try PasswordHash.make(of: "open sesame")
        #expect(hash.text.hasPrefix("$y$"))
        #expect(hash.matches("open sesame"))
        #expect(!hash.matches("open sesam") && !hash.matches("open sesame ") && !hash.matches(""))
        #expect(!hash.matches(String(repeating: "a", count: PasswordHash.longest + 1)))
        #expect(try PasswordHash.make(of: "open sesame") != hash)
        for text in ["", "open sesame", "$1$abc$def", "*0", "$y$" + String(repeating: "a", count: 400)] {
            #expect(throws: PasswordHash.Problem.self) { _ = try PasswordHash(text) }
        }
    }

    @Test func `a password needs some characters, and has limits`() throws {
        let short = String(repeating: "a", count: PasswordHash.shortest - 1)
        #expect(throws: PasswordHash.Problem.self) { _ = try PasswordHash.make(of: short) }
        #expect(throws: PasswordHash.Problem.self) {
            _ = try PasswordHash.make(of: String(repeating: "a", count: PasswordHash.longest + 1))
        }
        let long = String(repeating: "ä", count: PasswordHash.longest / 2)
        #expect(try PasswordHash.make(of: long).matches(long))
    }

    @Test func `without a password only this machine sees the pages`() async throws {
        let household = try household(password: nil)
        for page in ShownHousehold.pages + ["/sign-in", "/events?page="] {
            let answer = await ShownBrowser(household).get(page)
            #expect(answer.status == 403, "\(page)")
            #expect(!String(decoding: answer.body, as: UTF8.self).contains("Anna"), "\(page)")
        }
        let local = ShownBrowser(try self.household(password: nil, isLoopback: true))
        #expect(await local.get("/").status == 200)
        for address in ["192.0.2.7", "::ffff:192.0.2.7", "2001:db8::1", "", "128.0.0.1"] {
            // A proxy of this machine says who it is.
            local.address = address
            #expect(await local.get("/").status == 403, "\(address)")
        }
    }

    @Test func `with a password every page leads to its question, and shows nothing before`() async throws {
        let household = try lockedHousehold()
        let browser = ShownBrowser(household)
        for page in ShownHousehold.pages {
            let answer = await browser.get(page)
            #expect(answer.status == 303, "\(page)")
            #expect(answer.value("Location")?.hasPrefix("/sign-in") == true)
            #expect(answer.body.isEmpty)
        }
        #expect(await browser.get("/events?page=").status == 403)
        #expect(
            await browser.get("/devices/band-1/values?range=week").value("Location")
                == "/sign-in?next=devices/band-1/values%3Frange%3Dweek")
        _ = await browser.get("/sign-in")
        #expect(await browser.post("/devices/band-1/synchronise").status == 303)
        #expect(household.commander.commands.isEmpty)
        #expect(await browser.get("/assets/style.css").status == 200)
    }

    @Test func `the password opens the pages, in a new session`() async throws {
        let household = try lockedHousehold()
        let browser = ShownBrowser(household)
        browser.isEncrypted = true
        _ = await browser.get("/sign-in?next=devices/band-1/nights")
        let (before, token) = (browser.cookie, browser.token)
        let wrong = await browser.post("/sign-in", ["password": "open sesam"])
        #expect(wrong.status == 403)
        household.clock.advance(by: .seconds(2))
        let right = await browser.post("/sign-in", ["password": "open sesame", "next": "devices/band-1/nights"])
        #expect(right.status == 303 && right.value("Location") == "/devices/band-1/nights")
        let cookie = try #require(right.value("Set-Cookie"))
        #expect(cookie.hasPrefix("__Host-vitals2mqtt="))
        for word in ["; HttpOnly", "; SameSite=Strict", "; Secure", "; Path=/"] { #expect(cookie.contains(word)) }
        #expect(browser.cookie != before)
        #expect(await browser.get("/").status == 200)
        #expect(browser.token != token)
        // Who knew the session before has nothing of it.
        let other = ShownBrowser(household)
        other.isEncrypted = true
        other.cookie = before
        #expect(await other.get("/").status == 303)
    }

    @Test func `a session that somebody else chose is none`() async throws {
        let household = try lockedHousehold()
        let browser = ShownBrowser(household)
        browser.cookie = "vitals2mqtt=\(String(repeating: "a", count: 64))"
        _ = await browser.get("/sign-in")
        #expect(browser.cookie?.contains("aaaa") == false)
        let stranger = ShownBrowser(household)
        _ = await stranger.get("/sign-in")
        browser.cookie = "\(browser.cookie ?? ""); \(stranger.cookie ?? "")"
        // Of two, none counts.
        #expect(await browser.post("/sign-in", ["password": "open sesame"]).status == 403)
    }

    @Test func `a sign-in leads to no other place than to a page`() async throws {
        for target in [
            "//evil.example", "https://evil.example", "/devices/a", "..", "sign-out", "javascript:alert(1)", "",
        ] {
            let household = try lockedHousehold()
            let browser = ShownBrowser(household)
            _ = await browser.get("/sign-in")
            let answer = await browser.post("/sign-in", ["password": "open sesame", "next": target])
            #expect(answer.value("Location") == "/", "\(target)")
        }
    }

    @Test func `guesses have to wait, longer each time, and the right password, too`() async throws {
        let household = try lockedHousehold()
        let browser = ShownBrowser(household)
        _ = await browser.get("/sign-in")
        #expect(await browser.post("/sign-in", ["password": "wrong"]).status == 403)
        let waiting = await browser.post("/sign-in", ["password": "open sesame"])
        #expect(waiting.status == 429)
        #expect(waiting.value("Retry-After") != nil)
        let elsewhere = ShownBrowser(household)
        elsewhere.address = "198.51.100.9"
        _ = await elsewhere.get("/sign-in")
        #expect(await elsewhere.post("/sign-in", ["password": "open sesame"]).status == 303)
        household.clock.advance(by: .seconds(2))
        #expect(await browser.post("/sign-in", ["password": "open sesame"]).status == 303)
    }

    @Test func `a session ends at its sign-out, after a day without a request, and after its lifetime`() async throws {
        let household = try lockedHousehold()
        let browser = await signedIn(household)
        #expect(await browser.get("/").status == 200)
        let cookie = browser.cookie
        #expect(await browser.post("/sign-out").status == 303)
        #expect(browser.cookie == nil)
        browser.cookie = cookie
        #expect(await browser.get("/").status == 303)

        let idle = await signedIn(household)
        household.clock.advance(by: PageSessions.idle)
        #expect(await idle.get("/").status == 303)

        let busy = await signedIn(household)
        for _ in 0..<27 {
            household.clock.advance(by: PageSessions.idle / 2)
            #expect(await busy.get("/").status == 200)
        }
        household.clock.advance(by: PageSessions.idle / 2)
        #expect(await busy.get("/").status == 303)
    }

    @Test func `another password ends all sessions`() async throws {
        let household = try lockedHousehold()
        let browser = await signedIn(household)
        #expect(await browser.get("/").status == 200)
        let other = PageSite(
            household.site.settings, access: try accessRule([:], password: Self.hash), isLoopback: false,
            memory: household.memory)
        var request = WebRequest(path: "/")
        request.headers[.cookie] = browser.cookie
        #expect(await other.answer(to: request).status == 303)
        #expect(await household.site.answer(to: request).status == 200)
    }

    @Test func `guests displace each other, and nobody who has signed in`() {
        let (sessions, clock) = (PageSessions(), ManualClock())
        let owner = PageSessions.Owner.user("a")
        let signedIn = sessions.begin(owner, at: clock.now.offset)
        for _ in 0..<2 * PageSessions.maximumGuests { _ = sessions.begin(.guest, at: clock.now.offset) }
        #expect(sessions.count == PageSessions.maximumGuests + 1)
        #expect(sessions.session(signedIn.id, of: owner, at: clock.now.offset) != nil)
        #expect(sessions.session(signedIn.id, of: .user("b"), at: clock.now.offset) == nil)
        for _ in 0..<2 * PageSessions.maximum { _ = sessions.begin(owner, at: clock.now.offset) }
        #expect(sessions.count == PageSessions.maximumGuests + PageSessions.maximum)
        #expect(signedIn.id.count == 64 && signedIn.token.count == 64 && signedIn.id != signedIn.token)
    }

    @Test(arguments: [
        ("cross-site", "no-cors", false), ("same-site", "cors", false), ("cross-site", "navigate", true),
        ("same-origin", "cors", true), ("none", "navigate", true),
    ]) func `what another site's page loads by itself begins no session`(
        site: String, mode: String, hasSession: Bool
    ) async throws {
        let household = try ShownHousehold()
        let browser = ShownBrowser(household)
        for (name, value) in [("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", mode)] {
            let field = try #require(HTTPField.Name(name))
            browser.headers[field] = value
        }
        #expect(await browser.get("/").status == 200)
        #expect((browser.cookie != nil) == hasSession)
        #expect(household.memory.sessions.count == (hasSession ? 1 : 0))
        // Its page has a token that opens nothing.
        browser.headers = [:]
        if !hasSession { #expect(await browser.post("/gateway/synchronise").status == 403) }
    }

    @Test func `a few passwords are checked at a time, and others are asked to come later`() async throws {
        let hash = try PasswordHash.make(of: "open sesame")
        let memory = PageMemory()
        let answers = await withTaskGroup(of: Bool?.self) { group in
            for _ in 0..<3 * PageMemory.maximumChecks {
                group.addTask { await memory.check("open sesame", against: hash) }
            }
            return await group.reduce(into: [Bool?]()) { $0.append($1) }
        }
        #expect(answers.allSatisfy { $0 ?? true })
        #expect(answers.count { $0 == true } >= PageMemory.maximumChecks)
        #expect(await memory.check("open sesame", against: hash) == true)
    }

    // MARK: - Home Assistant

    private func ingressBrowser(_ household: ShownHousehold, _ user: String? = "u1") -> ShownBrowser {
        let browser = ShownBrowser(household)
        browser.isIngress = true
        browser.base = "/api/hassio_ingress/abc/"
        browser.address = AccessRule.supervisor
        if let user, let name = HTTPField.Name("X-Remote-User-Id") { browser.headers[name] = user }
        return browser
    }

    @Test func `Home Assistant's users see the pages below its path, and each only the persons that it may`()
        async throws
    {
        let rule = try accessRule([
            "ingress": ConfigurationValue(.scalar("true", isQuoted: false)),
            "users": ConfigurationValue(
                .map([
                    (ConfigurationKey("u1"), ConfigurationValue(.scalar("Anna", isQuoted: true))),
                    (ConfigurationKey("u2"), ConfigurationValue(.scalar("*", isQuoted: true))),
                ])),
        ])
        let household = try ShownHousehold(access: rule, isLoopback: false)
        try household.addBand()
        try household.addBand("band-2", name: "Ben's band", person: "Ben")
        let anna = ingressBrowser(household)
        let overview = await anna.get("/")
        let html = String(decoding: overview.body, as: UTF8.self)
        #expect(overview.status == 200 && html.contains("Anna") && !html.contains("Ben"))
        #expect(html.contains(#"<base href="/api/hassio_ingress/abc/">"#))
        #expect(overview.value("Content-Security-Policy")?.contains("frame-ancestors 'self'") == true)
        #expect(overview.value("Set-Cookie")?.contains("Path=/api/hassio_ingress/abc/") == true)
        for page in ["/devices/band-2", "/devices/band-2/nights", "/gateway", "/add"] {
            #expect(await anna.get(page).status == 404, "\(page)")
        }
        _ = await anna.get("/")
        #expect(await anna.post("/devices/band-2/synchronise").status == 404)
        #expect(await anna.post("/gateway/synchronise").status == 404)
        #expect(household.commander.commands.isEmpty)
        let redirect = await anna.post("/devices/band-1/synchronise")
        #expect(redirect.value("Location") == "/api/hassio_ingress/abc/devices/band-1")

        let admin = ingressBrowser(household, "u2")
        #expect(await admin.text("/").contains("Ben"))
        #expect(await admin.get("/gateway").status == 200)
        #expect(await ingressBrowser(household, "u3").get("/").status == 403)
        #expect(await ingressBrowser(household, nil).get("/").status == 403)
        // Nobody else's session.
        admin.headers = anna.headers
        #expect(!(await admin.text("/").contains("Ben")))
    }

    @Test func `ingress headers from elsewhere open nothing`() async throws {
        let rule = try accessRule(["ingress": ConfigurationValue(.scalar("true", isQuoted: false))])
        let household = try ShownHousehold(access: rule, isLoopback: false)
        let browser = ingressBrowser(household)
        #expect(await browser.get("/").status == 200)
        browser.isIngress = false
        #expect(await browser.get("/").status == 403)
        let closed = ingressBrowser(try ShownHousehold(isLoopback: false))
        #expect(await closed.get("/").status == 403)
    }

    @Test func `a listener that the network reaches needs a password, ingress or tokens`() throws {
        func warnings(_ listen: String, _ rule: AccessRule, hasTokens: Bool = false) throws -> Int {
            var reader = ConfigurationReader(
                ConfigurationValue(
                    .map([
                        (ConfigurationKey("listen"), ConfigurationValue(.scalar(listen, isQuoted: true))),
                        (ConfigurationKey("insecure"), ConfigurationValue(.scalar("true", isQuoted: false))),
                    ])))
            let options = reader.listenOptions(default: WebConfiguration.defaultAddress)
            rule.check(options, hasTokens: hasTokens, &reader)
            return reader.warnings.count
        }
        #expect(try warnings("127.0.0.1:0", AccessRule()) == 0)
        #expect(try warnings("0.0.0.0:0", AccessRule()) == 1)
        #expect(try warnings("0.0.0.0:0", AccessRule(), hasTokens: true) == 0)
        #expect(try warnings("0.0.0.0:0", try accessRule([:], password: Self.hash)) == 0)
        let ingress = try accessRule(["ingress": ConfigurationValue(.scalar("true", isQuoted: false))])
        #expect(try warnings("0.0.0.0:0", ingress) == 0)
    }

    @Test func `what is no password and no user is refused with what to do`() throws {
        #expect(throws: Unexpected.self) { _ = try accessRule([:], password: "open sesame") }
        let user = ConfigurationValue(
            .map([(ConfigurationKey("u1"), ConfigurationValue(.scalar("Anna", isQuoted: true)))]))
        #expect(throws: Unexpected.self) { _ = try accessRule(["users": user]) }
        let many = (0...AccessRule.maximumUsers).map {
            (ConfigurationKey("u\($0)"), ConfigurationValue(.scalar("Anna", isQuoted: true)))
        }
        #expect(throws: Unexpected.self) {
            _ = try accessRule([
                "ingress": ConfigurationValue(.scalar("true", isQuoted: false)),
                "users": ConfigurationValue(.map(many)),
            ])
        }
    }
}
