import Vitals

/// Makes the pages on which devices are added.
enum AddBuilder {
    /// The most characters of a name that a stranger has chosen, such as that of an advertisement.
    static let longestName = 100

    /// What a scan has found.
    static func near(_ scan: FoundNearby, _ clock: PageClock) -> NearSection {
        let devices = scan.report?.devices ?? []
        let claimed = devices.filter { !$0.claims.isEmpty || $0.device != nil }
        let rest = devices.count - claimed.count + (scan.report?.skipped ?? 0)
        return NearSection(
            isScanning: scan.isScanning, scanned: scan.scannedAt.map { clock.moment($0) },
            found: claimed.map(candidate),
            problems: [scan.problem].compactMap { $0 }
                + (scan.report?.problems ?? []).map { "\($0.plugin): \($0.message)" },
            others: rest == 0 ? nil : "\(NumberText.of(Double(rest))) more that no driver recognises")
    }

    private static func candidate(_ device: ScanReport.Device) -> Candidate {
        let driver = device.claims.first?.driver
        var about = [device.address]
        if let signal = device.signalStrength { about.append("\(NumberText.of(Double(signal))) dBm") }
        if device.isConnected { about.append("connected with this machine") }
        let remark = device.device.map { "Already here as \($0)." } ?? device.note
        let name = String((device.name ?? "").prefix(longestName))
        var wishes = DeviceWishes(driver: driver ?? "", transport: device.transport)
        wishes.name = name.isEmpty ? nil : name
        return Candidate(
            label: name.isEmpty ? device.address : name, driver: driver, about: about.joined(separator: ", "),
            remark: remark, isAddable: driver != nil && device.device == nil,
            fields: fields(wishes) + [HiddenField(name: "name", value: name)])
    }

    /// What is in the folder for exports.
    static func exports(_ found: FoundExports?) -> ExportsSection {
        guard let found else {
            return ExportsSection(
                folder: "exports", files: [],
                problem: "There is no folder for exports. Make a folder named exports beside the configuration file.")
        }
        let files = found.files.map { file in
            ExportFile(
                label: file.name, about: file.about,
                sources: file.devices.map { device in
                    Candidate(
                        label: device.name, driver: device.wishes.driver, about: device.about, remark: device.remark,
                        isAddable: true,
                        fields: fields(device.wishes) + [HiddenField(name: "name", value: device.wishes.name ?? "")])
                })
        }
        return ExportsSection(folder: found.folder, files: files, problem: found.problem)
    }

    /// The fields of a form that has what a person does not type.
    static func fields(_ wishes: DeviceWishes) -> [HiddenField] {
        [HiddenField(name: "driver", value: wishes.driver)]
            + wishes.transport.map { HiddenField(name: "transport", value: "\($0.key)=\($0.value)") }
            + wishes.options.map { HiddenField(name: "option", value: "\($0.key)=\($0.value)") }
    }

    /// What a form wants; `nil` for one that no page has.
    static func wishes(_ fields: FormFields) -> DeviceWishes? {
        guard let driver = fields.text("driver") else { return nil }
        var wishes = DeviceWishes(driver: driver)
        for (name, path) in [("transport", \DeviceWishes.transport), ("option", \DeviceWishes.options)] {
            for text in fields.all(name) {
                let sides = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard sides.count == 2, !sides[0].isEmpty else { return nil }
                let option = ScanReport.Option(String(sides[0]), String(sides[1]))
                // A key that is there twice would leave open which one counts.
                guard !wishes[keyPath: path].contains(where: { $0.key == option.key }) else { return nil }
                wishes[keyPath: path].append(option)
            }
        }
        if let model = fields.text("model") { wishes.options.append(ScanReport.Option("model", model)) }
        wishes.id = fields.text("id")
        wishes.name = fields.text("name")
        wishes.person = fields.text("person")
        return wishes
    }

    /// The checked entry.
    static func entry(_ checked: CheckedDevice, _ wishes: DeviceWishes, people: [String]) -> EntrySection {
        let rows = checked.issues.map { issue in
            let sides = issue.split(separator: ":", maxSplits: 1)
            // Before a colon stands the path of a key.
            guard sides.count == 2, !sides[0].contains(" ") else {
                return Row(label: "", mark: Mark("error", .bad), text: issue)
            }
            return Row(
                label: String(sides[0]), mark: Mark("error", .bad), text: String(sides[1].drop { $0 == " " }))
        }
        return EntrySection(
            driver: wishes.driver,
            form: IdentityForm(
                name: wishes.name ?? checked.name, id: checked.id, person: wishes.person ?? "", people: people),
            fields: fields(wishes), isValid: checked.issues.isEmpty && !checked.file.isEmpty,
            issues: rows, text: checked.text, file: checked.file, willPair: checked.willPair)
    }

    /// What a phone gets.
    /// - Parameters:
    ///   - authority: by which name and port the browser has come, where the phone may come, too; `nil` if it is not known.
    ///   - isEncrypted: whether it has come over TLS.
    static func access(
        _ added: AddedDevice, _ access: PhoneAccess, authority: String?, isEncrypted: Bool
    ) -> AccessSection {
        let address: String?
        let secret: String
        var rows: [(label: String, text: String)]
        switch access.way {
        case .post:
            let origin = authority.map { "\(isEncrypted ? "https" : "http")://\($0)" }
            address = access.address ?? origin.map { "\($0)/v1/devices/\(added.id)" }
            secret = "Authorization: Bearer \(access.token)"
            rows = [("Header", "Authorization"), ("Its value", "Bearer \(access.token)")]
        case .call(let port):
            address = port.flatMap { port in
                authority.map { "\(port.isEncrypted ? "tls" : "tcp")://\(host(of: $0)):\(port.number)" }
            }
            // The first line of the app's call.
            secret = #"{"device": "\#(added.id)", "token": "\#(access.token)"}"#
            rows = [("Device", added.id.text), ("Token", access.token)]
        }
        if let address { rows.insert(("URL", address), at: 0) }
        return AccessSection(
            deviceName: added.name, deviceLink: "devices/\(added.id)", app: access.app, steps: access.steps,
            figures: rows.map { Figure(label: $0.label, text: $0.text, unit: nil, remark: nil) },
            svg: QRCode.svg(([address].compactMap { $0 } + [secret]).joined(separator: "\n")) ?? "",
            arrival: Notice("The device's page shows when something has come.", .plain))
    }

    /// The host of `host:port`, of which an IPv6 address is in brackets.
    private static func host(of authority: String) -> Substring {
        guard let colon = authority.lastIndex(of: ":"), authority.lastIndex(of: "]").map({ $0 < colon }) ?? true else {
            return authority[...]
        }
        return authority[..<colon]
    }
}
