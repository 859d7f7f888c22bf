import Concurrency
import Vitals

// The pages and the forms of adding a device.

extension PageSite {
    func add(_ way: AddWay, _ visit: Visit) async -> WebAnswer {
        guard let adder = settings.adder else { return problem(.missing, visit.request, visit) }
        var page = AddPage(frame: frame("Add a device", visit, isLive: way == .near), ways: ways(way))
        let form = IdentityForm(name: "", id: "", person: "", people: await people)
        switch way {
        case .near: page.near = AddBuilder.near(memory.scan, visit.clock)
        case .exports: page.exports = AddBuilder.exports(await adder.exports())
        case .phone:
            page.phone = PhoneSection(apps: choices(adder.phoneApps), form: form, problem: adder.phoneObstacle)
        case .simulator: page.simulator = SimulatorSection(models: choices(adder.models), form: form)
        }
        return render("add", page, visit)
    }

    private func ways(_ current: AddWay?) -> [Tab] {
        AddWay.allCases.map { Tab(name: $0.name, link: "add/\($0.rawValue)", isCurrent: $0 == current, badge: nil) }
    }

    private func choices(_ choices: [AddChoice]) -> [Choice] {
        choices.enumerated().map { Choice(value: $1.value, name: $1.name, isChosen: $0 == 0) }
    }

    /// The persons of the configuration, to choose from.
    private var people: [String] {
        get async {
            Set(await settings.reader.devices.flatMap { [$0.person].compactMap { $0 } + $0.people.values }).sorted()
        }
    }

    /// Scans beside the page, which shows what was found when it is.
    func scan(_ visit: Visit) async -> WebAnswer {
        guard let adder = settings.adder else { return problem(.missing, visit.request, visit) }
        if memory.beginScan() {
            memory.launcher.launch { [memory, settings] in
                do throws(AddRefusal) {
                    memory.endScan(try await adder.scan(), problem: nil, at: settings.clock.now)
                } catch { memory.endScan(nil, problem: error.description, at: settings.clock.now) }
            }
        }
        return redirect(visit, to: "add/near")
    }

    /// The entry of what a form wants. Nothing is written.
    func check(_ fields: FormFields, _ visit: Visit) async -> WebAnswer {
        guard let adder = settings.adder else { return problem(.missing, visit.request, visit) }
        guard let wishes = AddBuilder.wishes(fields) else { return problem(.unreadableForm, visit.request, visit) }
        return await entry(await adder.check(wishes), wishes, visit)
    }

    private func entry(
        _ checked: CheckedDevice, _ wishes: DeviceWishes, _ visit: Visit
    ) async -> WebAnswer {
        var page = AddPage(frame: frame("Add a device", visit), ways: ways(nil))
        let entry = AddBuilder.entry(checked, wishes, people: await people)
        page.entry = entry
        return render("add", page, visit, status: entry.isValid ? 200 : 422)
    }

    /// Writes the entry. A phone's access is shown in the answer, since its token stands in no address and in no session.
    func write(_ fields: FormFields, _ visit: Visit) async -> WebAnswer {
        guard let adder = settings.adder else { return problem(.missing, visit.request, visit) }
        guard let wishes = AddBuilder.wishes(fields) else { return problem(.unreadableForm, visit.request, visit) }
        let added: AddedDevice
        do throws(AddRefusal) { added = try await adder.write(wishes) } catch {
            var checked = await adder.check(wishes)
            if checked.issues.isEmpty { checked.issues = [error.description] }
            return await entry(checked, wishes, visit)
        }
        guard let access = added.access else {
            return redirect(
                visit, to: "", Notice("\(added.name) is added; the gateway takes it up within seconds.", .good))
        }
        var page = AddPage(frame: frame("Add a device", visit), ways: ways(nil))
        let (request, authority) = (visit.request, visit.request.authority)
        page.access = AddBuilder.access(
            added, access, authority: request.isIngress || authority.isEmpty ? nil : authority,
            isEncrypted: request.isEncrypted)
        return render("add", page, visit)
    }
}
