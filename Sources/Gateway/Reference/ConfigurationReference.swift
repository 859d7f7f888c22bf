package import GatewayKit

/// What can be configured, and the limits that a user can meet, in Markdown.
///
/// The keys come from the initialisers that read a configuration, so that ranges and defaults are those that are checked.
package struct ConfigurationReference: Sendable {
    /// A heading with what is below it.
    package struct Section: Sendable {
        package var title: String
        package var keys: [KeyDescription] = []
        package var limits: [OperatorLimit] = []
    }

    /// The gateway's keys, then those of each plugin; the same for the limits.
    package let sections: [Section]

    /// The reference of a gateway with these plugins.
    package init(_ plugins: PluginCatalogue) {
        var reader = ConfigurationReader(describing: "")
        // There is no configuration, and so there are errors.
        _ = try? GatewayConfiguration(&reader, ConfigurationValue(.null), plugins: plugins)
        let keys = reader.descriptions
        let paths = Set(keys.map(\.path))
        let device = "devices[]."
        // What a device can have of its own is the same again.
        let own = keys.filter { !$0.path.hasPrefix(device) || !paths.contains(String($0.path.dropFirst(device.count))) }
        var sections = [Section(title: "Keys of the gateway", keys: own)]
        sections += plugins.plugins.map { Section(title: "Keys of the plugin \($0.name)", keys: Self.keys(of: $0)) }
        sections += GatewayLimits.all.map { Section(title: "Limits: \($0.0)", limits: $0.1) }
        sections += plugins.plugins.map { Section(title: "Limits of the plugin \($0.name)", limits: $0.limits) }
        self.sections = sections.filter { !$0.keys.isEmpty || !$0.limits.isEmpty }
    }

    private static func keys(of plugin: any Plugin.Type) -> [KeyDescription] {
        let service = plugin.service.map { type in
            describe("plugins.\(plugin.name.lowercased())") { _ = type.init(options: &$0) }
        }
        let drivers = plugin.drivers.flatMap { type in
            describe("options (\(type.name))") { _ = type.init(options: &$0) }
        }
        let transports = plugin.transports.flatMap { type in
            describe("transport (\(type.name))") { _ = type.init(options: &$0) }
        }
        return (service ?? []) + drivers + transports
    }

    private static func describe(
        _ path: String, _ read: (inout ConfigurationReader) -> Void
    ) -> [KeyDescription] {
        var reader = ConfigurationReader(describing: path)
        read(&reader)
        return reader.descriptions
    }

    /// The whole reference.
    package var text: String {
        """
        # Configuration and limits of vitals2mqtt \(GatewayVersion.current)

        Durations: 500ms, 90s, 15m, 24h, 30d. Sizes: KiB, MiB, GiB, TiB. `[]` is each entry of a list. Each device can have
        `sync`, `alerts`, `fresh_for` and `offline_after` of its own. `options (X)` are those of a device with the driver X,
        and `transport (X)` the keys beside `type: X`.

        \(sections.map { Self.markdown(of: $0) }.joined(separator: "\n"))
        """
    }

    private static func markdown(of section: Section) -> String {
        let keys = section.keys.map { key in
            let ends = key.default == KeyDescription.required ? ". Required." : ". Default: \(key.default)."
            return "- `\(key.path)`: \(key.kind)\(ends)\(key.about.isEmpty ? "" : " \(key.about)")\n"
        }
        let limits = section.limits.map { "- \($0.name): \($0.value). At it: \($0.effect). Why: \($0.reason).\n" }
        return "## \(section.title)\n\n\((keys + limits).joined())"
    }
}
