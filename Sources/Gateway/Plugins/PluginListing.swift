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

    /// The details of one plugin, with a sample to copy: the entries with the driver or the transport `name`, or all if none has it.
    package static func details(of plugin: any Plugin.Type, for name: String) -> String {
        let service = plugin.service.map { "\nplugins:\n\($0.sample)" } ?? ""
        return """
            \(plugin.name): \(plugin.summary)
            \(parts(of: plugin).joined(separator: "\n"))
            \(service)
            \(entries(of: plugin.sample, with: name.lowercased()))
            """
    }

    /// The lines of a sample without the entries that have not this driver or transport.
    private static func entries(of sample: String, with name: String) -> String {
        let lines = sample.split(separator: "\n", omittingEmptySubsequences: false)
        let entry = lines.first { $0.drop { $0 == " " }.hasPrefix("- ") }
        guard let beginning = entry?.prefix(while: { $0 == " " }) else { return sample }
        // What comes before the first entry stays.
        var parts: [[Substring]] = [[]]
        for line in lines {
            if line.hasPrefix("\(beginning)- ") { parts.append([]) }
            parts[parts.count - 1].append(line)
        }
        let fitting = parts.dropFirst().filter { part in
            part.contains { line in
                let words = line.split { " ,{}".contains($0) }
                return zip(words, words.dropFirst()).contains { ["driver:", "type:"].contains($0) && $1 == name }
            }
        }
        guard !fitting.isEmpty else { return sample }
        let text = (parts.prefix(1) + fitting).joined().joined(separator: "\n")
        return text.hasSuffix("\n") ? text : text + "\n"
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
