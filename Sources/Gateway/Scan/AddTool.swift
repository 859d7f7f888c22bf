import GatewayKit
package import Vitals

/// Finds out what a new device needs, from a scan, from arguments, and by questions.
package struct AddTool: Sendable {
    /// What is known of the device before.
    package struct Wishes: Sendable, Hashable {
        /// Its address or its name, as a scan lists them.
        package var device: String?
        package var driver: String?
        package var id: String?
        package var name: String?
        /// Keys of `transport:`, beside those that a scan finds. With `type` there is no scan.
        package var transport: [ScanReport.Option] = []
        package var options: [ScanReport.Option] = []

        package init() {}
    }

    /// Asks a person; returns the line, or `nil` if there is no answer.
    package typealias Ask = (_ question: String) -> String?

    /// How often a question is repeated after an answer that means nothing.
    package static let attempts = 3

    let plugins: PluginCatalogue
    /// The ids of the configuration that the device joins.
    let devices: [DeviceID]
    /// The base of relative paths.
    let directory: String

    package init(plugins: PluginCatalogue, beside devices: [DeviceID], directory: String) {
        self.plugins = plugins
        self.devices = devices
        self.directory = directory
    }

    /// Makes the entry of a device.
    /// - Parameters:
    ///   - ask: asks a person; `nil` if no person can be asked. Then what is missing is a failure, or has its default.
    ///   - scan: scans for devices; called at most once.
    package func run(
        _ wishes: Wishes, asking ask: Ask?, scan: () async throws -> ScanReport
    ) async throws -> NewDevice {
        try Self.check(wishes.transport, of: "--transport")
        try Self.check(wishes.options, of: "--option")
        var driver = wishes.driver
        if let driver { _ = try known(driver) }
        var transport: [ScanReport.Option] = []
        var found: ScanReport.Device?
        if try driver.map({ try known($0).link != .none }) ?? true,
            !wishes.transport.contains(where: { $0.key == "type" })
        {
            let device = try pick(from: try await scan(), wishes.device, ask)
            transport = device.transport
            found = device
        }
        for option in wishes.transport {
            transport.removeAll { $0.key == option.key }
            transport.append(option)
        }
        if driver == nil { driver = try chosenDriver(for: found, ask) }
        let advertised = found?.name?.printable ?? ""
        let suggestion = NewDevice.suggestedID(for: advertised.isEmpty ? driver ?? "" : advertised, beside: devices)
        let id = wishes.id ?? ask.flatMap { answer($0("Id, of a-z, 0-9, _ and - [\(suggestion)]: ")) } ?? suggestion
        let shown = advertised.isEmpty ? id : advertised
        let name = wishes.name ?? ask.flatMap { answer($0("Name, for people [\(shown)]: ")) } ?? shown
        if let ask, let pairing = try pairing(for: driver ?? "", over: transport, ask) {
            transport.append(.init("pairing", pairing))
        }
        if let note = found?.note { _ = ask?("\(found?.address ?? ""): \(note) [Enter] ") }
        let device = NewDevice(
            id: id, name: name, driver: driver ?? "", transport: transport, options: wishes.options)
        let issues = device.issues(with: plugins, beside: devices, directory: directory)
        guard issues.isEmpty else {
            throw ToolFailure(
                "The entry has errors:\n" + issues.map { "  \($0)" }.joined(separator: "\n"), isIssue: true)
        }
        return device
    }

    /// How a person wants the device to be paired, if devices of the driver may need that, the transport can, and no
    /// argument says it; `nil` for the transport's default.
    private func pairing(
        for driver: String, over transport: [ScanReport.Option], _ ask: Ask
    ) throws -> String? {
        guard plugins.driver(named: driver)?.mayNeedPairing == true,
            !transport.contains(where: { $0.key == "pairing" }),
            let type = transport.first(where: { $0.key == "type" })?.value,
            let words = plugins.transport(named: type)?.pairings, let preset = words.first
        else { return nil }
        for _ in 0..<Self.attempts {
            let choice = "Pairing (\(words.joined(separator: ", "))); most cuffs and scales need it [\(preset)]: "
            let line = answer(ask(choice)) ?? preset
            if words.contains(line) { return line == preset ? nil : line }
        }
        throw ToolFailure("No pairing was chosen.")
    }

    /// Refuses a key that occurs twice, also as a map and as a value: only one of them could hold.
    private static func check(_ keys: [ScanReport.Option], of argument: String) throws(ToolFailure) {
        for (index, option) in keys.enumerated() {
            let isRepeated = keys[..<index].contains { other in
                "\(other.key).".hasPrefix("\(option.key).") || "\(option.key).".hasPrefix("\(other.key).")
            }
            guard isRepeated else { continue }
            throw ToolFailure(
                "\(argument) \(option.key) occurs twice. Keep one; a list is one value: \(argument) '\(option.key)=[a, b]'.",
                isIssue: true)
        }
    }

    private func answer(_ line: String?) -> String? {
        let text = line?.split(whereSeparator: \.isWhitespace).joined(separator: " ") ?? ""
        return text.isEmpty ? nil : text
    }

    private func known(_ driver: String) throws -> any DeviceDriver.Type {
        guard let type = plugins.driver(named: driver) else {
            throw ToolFailure("There is no driver \(driver). \(plugins.drivers(without: driver))")
        }
        return type
    }

    /// The device of this address or name, or the one that a person picks.
    private func pick(from report: ScanReport, _ wish: String?, _ ask: Ask?) throws -> ScanReport.Device {
        if let wish {
            let fitting = report.devices.filter {
                $0.address.lowercased() == wish.lowercased() || $0.name == wish
            }
            guard let first = fitting.first else {
                throw ToolFailure("\(wish) is not in reach. Wake it up, and run the command scan.")
            }
            guard fitting.count == 1 else {
                let addresses = fitting.map(\.address).joined(separator: ", ")
                throw ToolFailure("Several devices are named \(wish): name one by its address: \(addresses).")
            }
            return first
        }
        guard let ask else {
            throw ToolFailure("Name the device: by its address or name of the command scan, or by --transport type=….")
        }
        // A person could not choose among strangers without a name.
        let listed = report.devices.filter { $0.name != nil || !$0.claims.isEmpty }
        guard !listed.isEmpty else { throw ToolFailure("Nothing is in reach. Wake the device up, and try again.") }
        let lines = listed.enumerated().map { number, device in
            let driver = device.claims.first.map { ", for \($0.driver)" } ?? ""
            let state = device.device.map { ", is \($0) already" } ?? ""
            let signal = device.signalStrength.map { ", \($0) dBm" } ?? ""
            return "\(number + 1)  \(device.name?.printable ?? "-")  \(device.address)\(signal)\(driver)\(state)\n"
        }
        for _ in 0..<Self.attempts {
            let line = answer(ask(lines.joined() + "Which one, 1 to \(listed.count)? "))
            guard let line else { throw ToolFailure("No device was chosen.") }
            if let number = Int(line), (1...listed.count).contains(number) { return listed[number - 1] }
        }
        throw ToolFailure("No device was chosen.")
    }

    /// The driver that recognises the device, or the one that a person names.
    private func chosenDriver(for device: ScanReport.Device?, _ ask: Ask?) throws -> String {
        let claims = device?.claims.map(\.driver) ?? []
        if claims.count == 1 || (ask == nil && !claims.isEmpty) { return claims[0] }
        let fitting = plugins.drivers.filter { $0.link == .gatt || device == nil }.map { $0.name }
        let names = (claims + fitting.filter { !claims.contains($0) }).joined(separator: ", ")
        guard let ask else {
            throw ToolFailure("No driver recognises the device. Name one with --driver: \(names).")
        }
        for _ in 0..<Self.attempts {
            let preset = claims.first.map { " [\($0)]" } ?? ""
            guard let line = answer(ask("Which driver: \(names)\(preset)? ")) ?? claims.first else { break }
            if plugins.driver(named: line) != nil { return line }
        }
        throw ToolFailure("No driver was chosen.")
    }
}
