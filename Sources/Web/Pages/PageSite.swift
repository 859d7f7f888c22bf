package import Vitals

/// The pages for people: all that is below the listener's root and is no other page.
package final class PageSite: WebPage {
    /// The most bytes of a form. That of all settings of a device has 8 kB.
    package static let maximumForm = 64 << 10

    /// What the pages need.
    package struct Settings: Sendable {
        package let view: any GatewayView
        let reader: any GatewayReader
        let commander: any GatewayCommander
        /// `nil` where the pages cannot add a device.
        var adder: (any DeviceAdder)?
        /// `nil` without a log and a doctor.
        var inspector: (any GatewayInspector)?
        /// The gateway's name in topics.
        let gateway: String
        let clock: GatewayClock
        let calendar: LocalCalendar

        package init(
            view: any GatewayView, reader: any GatewayReader, commander: any GatewayCommander,
            adder: (any DeviceAdder)? = nil, inspector: (any GatewayInspector)? = nil, gateway: String,
            clock: GatewayClock, calendar: LocalCalendar
        ) {
            self.view = view
            self.reader = reader
            self.commander = commander
            self.adder = adder
            self.inspector = inspector
            self.gateway = gateway
            self.clock = clock
            self.calendar = calendar
        }
    }

    package let path = "/"
    package var maximumBody: Int { Self.maximumForm }
    package func hasPost(at path: String) -> Bool { PageAction(path) != nil }
    package var isCostly: Bool { true }

    let settings: Settings
    let access: AccessRule
    /// Whether only programs of this machine reach the listener.
    let isLoopback: Bool
    let memory: PageMemory
    let sources: PageSources

    /// The pages of a configuration.
    /// - Parameter memory: what outlives a change of the configuration.
    package init(_ settings: Settings, access: AccessRule, isLoopback: Bool, memory: PageMemory) {
        self.settings = settings
        self.access = access
        self.isLoopback = isLoopback
        self.memory = memory
        sources = PageSources(view: settings.view, reader: settings.reader)
        memory.begin(access)
    }

    package func answer(to request: WebRequest) async -> WebAnswer {
        switch request.method {
        case "GET", "HEAD": return await show(request)
        case "POST": return await act(request)
        default:
            var answer = WebAnswer(405, text: "Only GET, HEAD and POST are taken here.")
            answer.headers = [("Allow", "GET, HEAD, POST")]
            return answer
        }
    }

    // MARK: - Visits

    /// Who asks, with the session.
    func visit(_ request: WebRequest) -> Visit {
        let uptime = settings.clock.uptime
        let visitor = access.visitor(of: request, isLoopback: isLoopback)
        let cookie = request.cookie(Visit.cookieName(request)) ?? ""
        let clock = PageClock(now: settings.clock.now, calendar: settings.calendar)
        let query = FormFields(request.query.utf8) ?? FormFields()
        func visit(_ rights: PageRights?, _ session: PageSessions.Session, isNew: Bool) -> Visit {
            Visit(
                request: request, visitor: visitor, rights: rights, session: session, isNew: isNew, clock: clock,
                query: query)
        }
        let owner: PageSessions.Owner
        switch visitor {
        case .password:
            if let hash = access.hash,
                let session = memory.sessions.session(cookie, of: .password(hash), at: uptime)
            {
                return visit(.everything, session, isNew: false)
            }
            owner = .guest
        case .anybody, .stranger: owner = .guest
        case .user(let user): owner = .user(user)
        }
        // Who has not signed in sees nothing.
        let rights = visitor == .password ? nil : access.rights(of: visitor)
        if let session = memory.sessions.session(cookie, of: owner, at: uptime) {
            return visit(rights, session, isNew: false)
        }
        // What another site's page loads by itself shows nobody a form, and must not displace those who have one.
        if request.isLoadedElsewhere { return visit(rights, PageSessions.passing(owner, at: uptime), isNew: false) }
        return visit(rights, memory.sessions.begin(owner, at: uptime), isNew: true)
    }

    // MARK: - Pages

    private func show(_ request: WebRequest) async -> WebAnswer {
        let place = PagePlace(request.path)
        if case .asset(let name)? = place {
            return PageAssets.current.answer(to: request, name) ?? problem(.missing, request)
        }
        if access.visitor(of: request, isLoopback: isLoopback) == .stranger { return problem(.stranger, request) }
        let visit = visit(request)
        guard let rights = visit.rights else {
            guard visit.visitor == .password else { return problem(.noRights, request) }
            switch place {
            case .signIn?: return signIn(visit)
            case .events?: return WebAnswer(403, text: "Sign in first.")
            default:
                let next = place == nil || visit.path.isEmpty ? "" : "?next=\(visit.path.inQuery)"
                return .redirect(to: "\(request.base)sign-in\(next)", isFramed: visit.isFramed)
            }
        }
        do throws(StoreError) {
            switch place {
            case .overview?: return try await overview(visit, rights)
            case .gateway? where rights.isEverything: return await gateway(visit)
            case .signIn?: return .redirect(to: request.base, isFramed: visit.isFramed)
            case .events?: return events(visit, rights)
            case .device(let id, let section)?:
                guard let device = await sources.device(id, rights) else { break }
                return try await self.device(device, section, visit)
            case .night(let id, let day)?:
                guard let device = await sources.device(id, rights) else { break }
                return try await night(device, day, visit)
            case .add(let way)? where rights.isEverything && settings.adder != nil:
                return await add(way, visit)
            default: break
            }
            return problem(.missing, request, visit)
        } catch { return problem(.store("\(error)"), request, visit) }
    }

    private func overview(_ visit: Visit, _ rights: PageRights) async throws(StoreError) -> WebAnswer {
        let found = await sources.devices(rights)
        try await memory.wearers.refresh(found, from: sources, at: visit.clock.now)
        let devices = memory.wearers.complete(found, at: visit.clock.now)
        try await memory.sparklines.refresh(devices, from: sources, visit.clock)
        try await memory.sleeps.refresh(devices, from: sources, at: visit.clock.now)
        let builder = OverviewBuilder(
            devices: devices, clock: visit.clock, rights: rights, sparklines: memory.sparklines.drawn,
            sleeps: memory.sleeps.read)
        let page = OverviewPage(
            frame: frame("Overview", visit, isLive: true),
            concerns: builder.concerns(settings.view.overview, late: settings.view.late), warnings: builder.alerts(),
            people: builder.people())
        return render("overview", page, visit)
    }

    private func gateway(_ visit: Visit) async -> WebAnswer {
        render("gateway", gatewayBuilder(visit.clock).page(frame("Gateway", visit, isLive: true)), visit)
    }

    func gatewayBuilder(_ clock: PageClock) -> GatewayBuilder {
        GatewayBuilder(
            overview: settings.view.overview, late: settings.view.late, log: settings.inspector?.log ?? [],
            doctor: memory.doctor, clock: clock)
    }

    /// The page of a device.
    /// - Parameter form: the form of the settings, if it was refused.
    func device(
        _ device: ShownDevice, _ section: DeviceSection, _ visit: Visit, form: SettingsForm? = nil
    ) async throws(StoreError) -> WebAnswer {
        let builder = DeviceBuilder(device: device, sources: sources, clock: visit.clock, query: visit.query)
        let page = try await builder.page(section, frame(device.name, visit, isLive: true), form: form)
        return render("device", page, visit, status: form == nil ? 200 : 422)
    }

    private func night(_ device: ShownDevice, _ day: LocalDay, _ visit: Visit) async throws(StoreError) -> WebAnswer {
        let builder = DeviceBuilder(device: device, sources: sources, clock: visit.clock, query: visit.query)
        let title = "Night to \(visit.clock.text(of: day))"
        guard let page = try await builder.night(day, frame(title, visit)) else {
            return problem(.missing, visit.request, visit)
        }
        return render("nightpage", page, visit)
    }

    /// The page that asks for the password.
    /// - Parameter problem: why the last one was not taken.
    func signIn(_ visit: Visit, next: String? = nil, problem: String? = nil, status: Int = 200) -> WebAnswer {
        let next = Visit.target(next ?? visit.query["next"])
        var frame = frame("Sign in", visit)
        frame.places = []
        return render("signin", SignInPage(frame: frame, next: next, problem: problem), visit, status: status)
    }

    // MARK: - What every page has

    /// What is around the content of a page.
    func frame(_ title: String, _ visit: Visit, isLive: Bool = false) -> Frame {
        let place = PagePlace(visit.request.path)
        var places = [Tab(name: "Overview", link: "./", isCurrent: place == .overview, badge: nil)]
        if visit.rights?.isEverything ?? false {
            if settings.adder != nil {
                var isCurrent = false
                if case .add? = place { isCurrent = true }
                places.append(Tab(name: "Add a device", link: "add", isCurrent: isCurrent, badge: nil))
            }
            places.append(Tab(name: "Gateway", link: "gateway", isCurrent: place == .gateway, badge: nil))
        }
        var canSignOut = false
        if case .password = visit.session.owner { canSignOut = true }
        return Frame(
            title: title, gateway: settings.gateway, version: settings.view.overview.version,
            assets: PageAssets.current.version, base: visit.request.base, path: visit.path,
            token: visit.session.token, places: visit.rights == nil ? [] : places,
            made: visit.clock.moment(visit.clock.now), canSignOut: canSignOut, isLive: isLive,
            notice: memory.sessions.takeNotice(of: visit.session.id))
    }

    /// A page as an answer, with the cookie of a new session.
    func render(_ template: String, _ model: any Sendable, _ visit: Visit, status: Int = 200) -> WebAnswer {
        var answer = WebAnswer.page(
            PageTemplates.current?.text(template, of: model) ?? "", status: status, isFramed: visit.isFramed)
        if visit.isNew { answer.headers.append(Visit.cookie(visit.session, visit.request)) }
        return answer
    }

    /// Leads to another page, which shows what came of a form.
    func redirect(_ visit: Visit, to target: String, _ notice: Notice? = nil) -> WebAnswer {
        if let notice { memory.sessions.leave(notice, in: visit.session.id) }
        return .redirect(to: visit.request.base + target, isFramed: visit.isFramed)
    }
}

extension String {
    /// A path of ours with its query, as a value in a query.
    var inQuery: String {
        replacing("?", with: "%3F").replacing("=", with: "%3D").replacing("&", with: "%26")
    }
}
