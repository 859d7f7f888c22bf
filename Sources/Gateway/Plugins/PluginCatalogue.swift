package import GatewayKit

/// The compiled-in plugins, with a lookup by name.
package struct PluginCatalogue: Sendable {
    /// The plugins, in the order of their list.
    package let plugins: [any Plugin.Type]
    private let driversByName: [String: any DeviceDriver.Type]
    private let transports: [String: any Transport.Type]
    /// The services, by their names under `plugins:`.
    package let services: [String: any PluginService.Type]
    private let unavailable: [String: String]

    /// Combines plugins.
    /// - Parameter unavailable: the transports and services that another build of the program has, each with why this one has it
    ///   not and what to do.
    /// - Throws: `PluginCatalogueError` if two of them use one name, or a name is not allowed in a configuration.
    package init(_ plugins: [any Plugin.Type], unavailable: [String: String] = [:]) throws(PluginCatalogueError) {
        var names: Set<String> = []
        var drivers: [String: any DeviceDriver.Type] = [:]
        var transports: [String: any Transport.Type] = [:]
        var services: [String: any PluginService.Type] = [:]
        for plugin in plugins {
            guard names.insert(plugin.name.lowercased()).inserted else { throw .duplicate("plugin", plugin.name) }
            if let service = plugin.service {
                let name = plugin.name.lowercased()
                guard Self.isName(name) else { throw .badName("plugin", plugin.name) }
                services[name] = service
            }
            for driver in plugin.drivers {
                guard Self.isName(driver.name) else { throw .badName("driver", driver.name) }
                guard drivers.updateValue(driver, forKey: driver.name) == nil else {
                    throw .duplicate("driver", driver.name)
                }
            }
            for transport in plugin.transports {
                guard Self.isName(transport.name), transport.link != .none else {
                    throw .badName("transport", transport.name)
                }
                guard transports.updateValue(transport, forKey: transport.name) == nil else {
                    throw .duplicate("transport", transport.name)
                }
            }
        }
        self.plugins = plugins
        driversByName = drivers
        self.transports = transports
        self.services = services
        self.unavailable = unavailable
    }

    /// The plugin with this name, in any case.
    package func plugin(named name: String) -> (any Plugin.Type)? {
        plugins.first { $0.name.lowercased() == name.lowercased() }
    }

    /// The plugin with this name in any case, or with a driver or a transport of this name.
    package func plugin(having name: String) -> (any Plugin.Type)? {
        plugin(named: name)
            ?? plugins.first { plugin in
                let name = name.lowercased()
                return plugin.drivers.contains { $0.name == name } || plugin.transports.contains { $0.name == name }
            }
    }

    /// Why there is no plugin, driver or transport of a name, with what was probably meant.
    package func explanation(ofMissing name: String) -> String {
        let names = plugins.map { $0.name.lowercased() } + driversByName.keys + transports.keys
        let reason = unavailable[name] ?? Spelling.hint(for: name, in: names)
        return ["There is no plugin, driver or transport \(name).", reason, "The command `plugins` lists them."]
            .compactMap(\.self).joined(separator: " ")
    }

    /// The driver with this name.
    package func driver(named name: String) -> (any DeviceDriver.Type)? { driversByName[name] }

    /// The drivers, by name.
    package var drivers: [any DeviceDriver.Type] { driversByName.values.sorted { $0.name < $1.name } }

    /// The transport with this name.
    package func transport(named name: String) -> (any Transport.Type)? { transports[name] }

    /// The transports that open a kind of link, by name.
    package func transports(of kind: LinkKind) -> [any Transport.Type] {
        transports.values.filter { $0.links.contains(kind) }.sorted { $0.name < $1.name }
    }

    /// The name of a service under `plugins:`.
    func name(of service: any PluginService.Type) -> String? { services.first { $0.value == service }?.key }

    /// The services' names, for a message about one that is not there.
    func services(without name: String) -> String { unavailable[name] ?? Self.known(services.keys, besides: name) }
    /// The drivers' names, for a message about one that is not there.
    func drivers(without name: String) -> String { Self.known(driversByName.keys, besides: name) }
    /// The transports of a kind of link, for a message about one that is not there.
    func transports(of kind: LinkKind, without name: String) -> String {
        if let reason = unavailable[name] { return reason }
        let fitting = transports(of: kind).map { $0.name }
        let listed = "Fitting ones: \(fitting.isEmpty ? "none" : fitting.joined(separator: ", "))."
        return [Spelling.hint(for: name, in: fitting), listed].compactMap(\.self).joined(separator: " ")
    }

    private static func known(_ names: some Collection<String>, besides name: String) -> String {
        let known = "Known here: \(names.isEmpty ? "none" : names.sorted().joined(separator: ", "))."
        return [Spelling.hint(for: name, in: names), known].compactMap(\.self).joined(separator: " ")
    }

    /// Whether a name is allowed in a configuration: not empty, of `a-z`, `0-9` and `-`.
    private static func isName(_ text: String) -> Bool {
        !text.isEmpty
            && text.allSatisfy { ("a"..."z").contains($0) || ("0"..."9").contains($0) || $0 == "-" }
    }
}

/// Why plugins cannot be used together: an error of their authors, not of the configuration.
package enum PluginCatalogueError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Two plugins, drivers or transports have one name.
    case duplicate(String, String)
    /// The name of a driver, a transport or a plugin with a service has characters other than `a-z`, `0-9` and `-` (a
    /// plugin's in lower case), or a transport opens no link.
    case badName(String, String)

    /// A description of the error for a person.
    package var description: String {
        switch self {
        case .duplicate(let kind, let name): "Two plugins bring a \(kind) named \(name); rename one."
        case .badName(let kind, let name):
            "The \(kind) \"\(name)\" needs a name of a-z, 0-9 and -, and a transport needs a kind of link."
        }
    }
}
