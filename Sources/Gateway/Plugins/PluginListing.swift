package import GatewayKit

extension PluginCatalogue {
    /// One line per plugin, with its drivers and transports.
    package var listing: String {
        let width = plugins.map { $0.name.count }.max() ?? 0
        return plugins.map { plugin in
            let name = plugin.name.padded(to: width)
            return "\(name)  \(plugin.summary)\n"
                + Self.parts(of: plugin).map { "\(" ".padded(to: width))  \($0)\n" }.joined()
        }.joined()
    }

    /// The details of one plugin, with a sample to copy.
    package static func details(of plugin: any Plugin.Type) -> String {
        let service = plugin.service.map { "\nplugins:\n\($0.sample)" } ?? ""
        return """
            \(plugin.name): \(plugin.summary)
            \(parts(of: plugin).joined(separator: "\n"))
            \(service)
            \(plugin.sample)
            """
    }

    private static func parts(of plugin: any Plugin.Type) -> [String] {
        plugin.drivers.map { driver in
            driver.link == .none
                ? "driver: \(driver.name) (needs no transport)"
                : "driver: \(driver.name) (needs a transport of \(driver.link.rawValue))"
        }
            + plugin.transports.map { transport in
                let kinds = transport.links.map(\.rawValue).sorted().joined(separator: " or ")
                return "transport: {type: \(transport.name)} (of \(kinds))"
            }
            + (plugin.service == nil ? [] : ["plugins: {\(plugin.name.lowercased()): …} (shared by its devices)"])
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
