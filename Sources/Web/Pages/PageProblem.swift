import Vitals

/// Why a page is not shown.
enum PageProblem: Sendable, Hashable {
    case missing, stranger, noRights
    /// A form of an old page, or of another site.
    case foreignForm
    case unreadableForm
    case busy
    /// The store cannot be read, with the reason.
    case store(String)

    var status: Int {
        switch self {
        case .missing: 404
        case .stranger, .noRights, .foreignForm: 403
        case .unreadableForm: 400
        case .busy, .store: 503
        }
    }

    var title: String {
        switch self {
        case .missing: "There is no such page"
        case .stranger: "The pages are closed here"
        case .noRights: "There is nothing for you to see"
        case .foreignForm: "The form was not taken"
        case .unreadableForm: "The form cannot be read"
        case .busy: "Too much at once"
        case .store: "The store cannot be read"
        }
    }

    var text: String {
        switch self {
        case .missing: "It may be of a device that was removed, or of a time without values."
        case .stranger: "This gateway has no password yet, so that only its own machine sees the pages."
        case .noRights: "Your user of Home Assistant has no persons here."
        case .foreignForm: "It comes from a page that is old, or that is none of this gateway."
        case .unreadableForm: "No page of this gateway sends such a form."
        case .busy: "Others are being served. Nothing was changed."
        case .store(let reason): reason
        }
    }

    var advice: [String] {
        switch self {
        case .missing: ["Look at the overview for the devices that there are."]
        case .stranger:
            [
                "Run vitals2mqtt web-password --write web-password beside the configuration.",
                "Set password: {file: web-password} in web:, and reload.",
            ]
        case .noRights: ["Ask who runs the gateway for an entry in users: of web:."]
        case .foreignForm: ["Go back, reload the page, and send the form again."]
        case .unreadableForm: ["Go back, and reload the page."]
        case .busy: ["Try again in a moment."]
        case .store: ["Look at the gateway's log and at its disk."]
        }
    }
}

extension PageSite {
    /// The page that says why there is none.
    func problem(_ problem: PageProblem, _ request: WebRequest, _ visit: Visit? = nil) -> WebAnswer {
        let clock = PageClock(now: settings.clock.now, calendar: settings.calendar)
        let frame: Frame
        if let visit {
            frame = self.frame(problem.title, visit)
        } else {
            frame = Frame(
                title: problem.title, gateway: settings.gateway, version: settings.view.overview.version,
                assets: PageAssets.current.version, base: request.base, path: "", token: "", places: [],
                made: clock.moment(clock.now), canSignOut: false, isLive: false, notice: nil)
        }
        let page = ErrorPage(
            frame: frame, status: problem.status, text: problem.text, advice: problem.advice,
            way: Tab(name: "Overview", link: "./", isCurrent: false, badge: nil))
        guard let visit else {
            return .page(
                PageTemplates.current?.text("error", of: page) ?? "", status: problem.status,
                isFramed: request.isIngress)
        }
        return render("error", page, visit, status: problem.status)
    }
}
