import Concurrency
import GatewayKit
import JSON
import Listening
import Vitals

// What forms do. Each is answered by a redirect to a page that says what came of it; what was typed wrongly, by the page itself.

extension PageSite {
    func act(_ request: WebRequest) async -> WebAnswer {
        guard request.isFromOwnPage else { return problem(.foreignForm, request) }
        if access.visitor(of: request, isLoopback: isLoopback) == .stranger { return problem(.stranger, request) }
        let type = (request.header("Content-Type") ?? "").prefix { $0 != ";" }.lowercased()
        guard type == "application/x-www-form-urlencoded", let fields = FormFields(request.body) else {
            return problem(.unreadableForm, request)
        }
        let visit = visit(request)
        guard !visit.isNew, Secret(visit.session.token).matches(Array((fields["csrf"] ?? "").utf8)) else {
            return problem(.foreignForm, request, visit)
        }
        guard let action = PageAction(request.path) else { return problem(.missing, request, visit) }
        if action == .signIn { return await signIn(visit, fields) }
        guard let rights = visit.rights else {
            return visit.visitor == .password
                ? .redirect(to: "\(request.base)sign-in", isFramed: visit.isFramed)
                : problem(.noRights, request, visit)
        }
        do throws(StoreError) { return try await perform(action, fields, visit, rights) } catch {
            return problem(.store("\(error)"), request, visit)
        }
    }

    private func perform(
        _ action: PageAction, _ fields: FormFields, _ visit: Visit, _ rights: PageRights
    ) async throws(StoreError) -> WebAnswer {
        switch action {
        case .signIn: break
        case .signOut:
            memory.sessions.end(visit.session.id)
            var answer = WebAnswer.redirect(to: visit.request.base, isFramed: visit.isFramed)
            answer.headers.append(Visit.noCookie(visit.request))
            return answer
        case .acknowledge(let id), .synchronise(let id), .measure(let id), .passkey(let id), .settings(let id),
            .whose(let id):
            guard let device = await sources.device(id, rights) else { break }
            return try await perform(action, on: device, fields, visit)
        case .synchroniseAll where rights.isEverything:
            let notice = await notice(
                of: "sync", nil, [:], done: "All devices are being synchronised.", late: "The devices are asked.")
            return redirect(visit, to: "gateway", notice)
        case .doctor where rights.isEverything:
            guard let inspector = settings.inspector else { break }
            examine(with: inspector)
            return redirect(visit, to: "gateway")
        case .scan where rights.isEverything: return await scan(visit)
        case .check where rights.isEverything: return await check(fields, visit)
        case .write where rights.isEverything: return await write(fields, visit)
        default: break
        }
        return problem(.missing, visit.request, visit)
    }

    private func perform(
        _ action: PageAction, on device: ShownDevice, _ fields: FormFields, _ visit: Visit
    ) async throws(StoreError) -> WebAnswer {
        let id = device.id
        switch action {
        case .acknowledge:
            let target = Visit.target(fields["return"]) ?? ""
            let arguments: JSONValue = [
                "id": .string(fields["id"] ?? ""), "by": .string(name(of: visit)),
            ]
            return redirect(
                visit, to: target, await notice(of: "acknowledge", id, arguments, done: "Noted: the alert was seen."))
        case .synchronise:
            let notice = await notice(
                of: "sync", id, [:], done: "\(device.name) is being synchronised.", late: "The device is asked.")
            return redirect(visit, to: device.path, notice)
        case .measure:
            var arguments: [JSONValue.Member] = []
            let isStop = fields["action"] == "stop"
            arguments.append(JSONValue.Member("action", .string(isStop ? "stop" : "start")))
            if !isStop { arguments.append(JSONValue.Member("metric", .string(fields["metric"] ?? ""))) }
            let notice = await notice(
                of: "measure", id, .object(arguments), done: isStop ? "Stopped." : "The measurement begins.",
                late: "The device is asked.")
            return redirect(visit, to: device.path, notice)
        case .passkey:
            let digits = (fields["passkey"] ?? "").filter { $0.isASCII && $0.isNumber }
            let notice = await notice(
                of: "passkey", id, ["passkey": .string(digits)], done: "The device has the passkey, and checks it.")
            return redirect(visit, to: device.path, notice)
        case .whose:
            var arguments: [JSONValue.Member] = [JSONValue.Member("id", .string(fields["id"] ?? ""))]
            let person = fields["person"] ?? ""
            if !person.isEmpty { arguments.append(JSONValue.Member("person", .string(person))) }
            let notice = await notice(
                of: person.isEmpty ? "withdraw" : "assign", id, .object(arguments),
                done: person.isEmpty ? "Noted: it is nobody's here." : "Noted: it is \(person)'s.")
            return redirect(visit, to: Visit.target(fields["return"]) ?? device.path, notice)
        case .settings: return try await change(device, fields, visit)
        default: return problem(.missing, visit.request, visit)
        }
    }

    /// Changes settings. A form with mistakes is shown again, with what was typed.
    private func change(_ device: ShownDevice, _ fields: FormFields, _ visit: Visit) async throws(StoreError)
        -> WebAnswer
    {
        let builder = SettingsBuilder(device: device)
        let target = "\(device.path)/settings"
        let arguments: JSONValue
        switch builder.patch(fields) {
        case .success(let patch): arguments = patch
        case .failure(let mistaken):
            guard !mistaken.mistakes.isEmpty else { return problem(.unreadableForm, visit.request, visit) }
            let form = builder.form(SettingsBuilder.Refusal(typed: fields, mistakes: mistaken.mistakes))
            return try await self.device(device, .settings, visit, form: form)
        }
        guard arguments.asObject?.count ?? 0 > 1 else {
            return redirect(visit, to: target, Notice("Nothing was changed."))
        }
        let reply = await CommandReply.of(
            "config", device.id, arguments, to: settings.commander, isFinal: true, by: settings.clock)
        if let reply, !reply.isTaken, !reply.violations.isEmpty {
            let form = builder.form(SettingsBuilder.Refusal(typed: fields, mistakes: reply.violations))
            return try await self.device(device, .settings, visit, form: form)
        }
        if reply?.code == "conflict" {
            return redirect(
                visit, to: target,
                Notice("Somebody has changed the settings meanwhile. Look at them, and change them again.", .warn))
        }
        let late = Notice("The settings wait for the device.", .plain)
        return redirect(visit, to: target, reply?.notice("The settings are taken.") ?? late)
    }

    /// What came of a command.
    /// - Parameter late: what is said if no answer comes in time.
    private func notice(
        of name: String, _ device: DeviceID?, _ arguments: JSONValue, done: String,
        late: String = "The gateway has not answered yet."
    ) async -> Notice {
        let reply = await CommandReply.of(name, device, arguments, to: settings.commander, by: settings.clock)
        return reply?.notice(done) ?? Notice(late)
    }

    /// Who acknowledges: a user of Home Assistant by its name there.
    private func name(of visit: Visit) -> String {
        let name = visit.isFramed ? visit.request.header("X-Remote-User-Display-Name") : nil
        guard let name, Vitals.Acknowledgement.isName(name) else { return "somebody at the gateway's page" }
        return name
    }

    /// Asks the doctor beside the page, which shows what he says when he is ready.
    private func examine(with inspector: any GatewayInspector) {
        guard memory.beginDoctor() else { return }
        memory.launcher.launch { [memory, settings] in
            memory.endDoctor(await inspector.examine(), at: settings.clock.now)
        }
    }

    // MARK: - Signing in

    /// The name under which guesses at the password are counted.
    private static let guesses = "web"

    private func signIn(_ visit: Visit, _ fields: FormFields) async -> WebAnswer {
        let next = fields["next"]
        guard visit.visitor == .password, let hash = access.hash else {
            return redirect(visit, to: "")
        }
        let address = visit.request.address
        func wait(_ seconds: Int) -> WebAnswer {
            var answer = signIn(
                visit, next: next, problem: "Too many guesses. Wait \(NumberText.count(max(seconds, 1), "second")).",
                status: 429)
            answer.headers.append((name: "Retry-After", value: "\(max(seconds, 1))"))
            return answer
        }
        if let time = memory.logins.wait(of: address, for: Self.guesses, at: settings.clock.uptime) {
            return wait(Int(time.components.seconds) + 1)
        }
        guard let isRight = await memory.check(fields["password"] ?? "", against: hash) else { return wait(1) }
        let uptime = settings.clock.uptime
        guard isRight else {
            memory.logins.failed(address, for: Self.guesses, at: uptime)
            return signIn(visit, next: next, problem: "This is not the password.", status: 403)
        }
        memory.logins.succeeded(address, for: Self.guesses, at: uptime)
        // Another session than before, which somebody else may know.
        memory.sessions.end(visit.session.id)
        let session = memory.sessions.begin(.password(hash), at: uptime)
        var answer = WebAnswer.redirect(
            to: visit.request.base + (Visit.target(next) ?? ""), isFramed: visit.isFramed)
        answer.headers.append(Visit.cookie(session, visit.request))
        return answer
    }
}
