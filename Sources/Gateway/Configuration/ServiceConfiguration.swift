package import GatewayKit

/// An entry of `plugins:`: what the devices of a plugin share.
package struct ServiceConfiguration: Sendable {
    /// The plugin's name, the entry's key.
    package var name: String
    /// The service, made from the entry's keys.
    package var service: any PluginService
    /// The entry as written in the file.
    package var source: ConfigurationValue
    /// The content of the files and variables that it names.
    package var contents: [Secret]

    /// Changes with everything in the entry and in the files that it names, but not with lines and comments. Comparable within one run of the program.
    package var fingerprint: Int {
        var hasher = Hasher()
        hasher.combine(source.withoutLines)
        hasher.combine(contents)
        return hasher.finalize()
    }
}

extension ConfigurationReader {
    /// Reads `plugins`: the entries of the services that these devices use, also those that are missing, and the others, which
    /// get a warning.
    mutating func services(
        _ key: String, of devices: [DeviceConfiguration], _ plugins: PluginCatalogue
    ) -> [ServiceConfiguration] {
        let used = Set(devices.flatMap(\.serviceNames))
        return section(key) { reader in
            let configured = reader.keys.filter { !used.contains($0) }
            for name in configured where plugins.services[name] != nil {
                reader.warn("No device uses \(name); it is not started.", at: name)
            }
            return (used.sorted() + configured).compactMap { name in
                guard let type = plugins.services[name] else {
                    reader.report(
                        "There is no plugin \(name) whose devices share anything. Known here: "
                            + "\(plugins.serviceNames).", at: name)
                    _ = reader.value(name)
                    return nil
                }
                let source = reader.value(name) ?? ConfigurationValue(.null)
                let (service, contents) = reader.section(name) { (type.init(options: &$0), $0.contents) }
                return ServiceConfiguration(name: name, service: service, source: source, contents: contents)
            }
        }
    }
}
