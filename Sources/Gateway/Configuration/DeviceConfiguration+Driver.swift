import GatewayKit

extension ConfigurationReader {
    /// Reads `driver`, `options` and `transport`, which must match; `nil` if an error leaves no driver.
    mutating func driver(_ plugins: PluginCatalogue) -> (driver: any DeviceDriver, transport: (any Transport)?)? {
        let name = string("driver", about: "The driver that speaks the device's protocol.")
        describe("options", "map", about: "The options of the driver.")
        describe("transport", "map", about: "How the device is reached: `type`, and the keys of that transport.")
        guard let type = plugins.driver(named: name) else {
            if !name.isEmpty {
                report("There is no driver \(name). \(plugins.drivers(without: name))", at: "driver")
            }
            // The driver decides whether they are right.
            for key in ["options", "transport"] { _ = value(key) }
            return nil
        }
        let driver = section("options") { type.init(options: &$0) }
        if type.link == .none {
            if value("transport") != nil {
                report("The driver \(name) needs no transport; remove it.", at: "transport")
            }
            return (driver, nil)
        }
        guard value("transport") != nil else {
            let fitting = plugins.transports(of: type.link).map { $0.name }.joined(separator: ", ")
            report(
                "The driver \(name) needs a transport, such as transport: {type: …}. Fitting ones: \(fitting).",
                at: "driver")
            return (driver, nil)
        }
        if case .scalar(let word, _)? = value("transport")?.content {
            let fitting = plugins.transports(of: type.link).map { $0.name }
            let name = fitting.contains(word) ? word : fitting.first ?? "…"
            report("Keys and values are expected here: transport: {type: \(name), …}.", at: "transport")
            return (driver, nil)
        }
        return (driver, section("transport") { $0.transport(for: type, plugins) })
    }

    private mutating func transport(
        for driver: any DeviceDriver.Type, _ plugins: PluginCatalogue
    ) -> (any Transport)? {
        let name = string("type")
        guard let type = plugins.transport(named: name) else {
            if !name.isEmpty {
                let hint = plugins.transports(of: driver.link, without: name)
                report("There is no transport \(name). \(hint)", at: "type")
            }
            ignoreOtherKeys()
            return nil
        }
        guard type.links.contains(driver.link) else {
            report(
                "The transport \(name) carries \(type.link.rawValue), but the driver \(driver.name) needs "
                    + "\(driver.link.rawValue). Fitting ones: "
                    + "\(plugins.transports(of: driver.link).map { $0.name }.joined(separator: ", ")).",
                at: "type")
            ignoreOtherKeys()
            return nil
        }
        return type.init(options: &self)
    }
}
