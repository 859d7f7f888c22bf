package import GatewayKit

/// An entry of `plugins:`: what the devices of a plugin share.
package struct ServiceConfiguration: Sendable {
    /// The plugin's name, the entry's key.
    package var name: String
    /// The service, made from the entry's keys.
    package var service: any PluginService
    /// The entry as written in the file.
    package var source: ConfigurationValue

    /// Changes with everything in the entry, but not with lines and comments. Comparable within one run of the program.
    package var fingerprint: Int {
        var hasher = Hasher()
        hasher.combine(source.withoutLines)
        return hasher.finalize()
    }
}

extension ConfigurationReader {
    /// Reads `plugins`: the entries of the services that these devices use, also those that are missing, and the others, which
    /// get a warning.
    mutating func services(
        _ key: String, of devices: [DeviceConfiguration], _ context: inout ReadingContext
    ) -> [ServiceConfiguration] {
        let used = Set(devices.flatMap(\.serviceNames))
        return section(key) { reader in
            let configured = reader.keys.filter { !used.contains($0) }
            for name in configured where context.plugins.services[name] != nil {
                context.warn("No device uses \(name); it is not started.", at: name, of: reader)
            }
            return (used.sorted() + configured).compactMap { name in
                guard let type = context.plugins.services[name] else {
                    reader.report(
                        "There is no plugin \(name) whose devices share anything. Known here: "
                            + "\(context.plugins.serviceNames).", at: name)
                    _ = reader.value(name)
                    return nil
                }
                let source = reader.value(name) ?? ConfigurationValue(.null)
                let service = reader.section(name) { type.init(options: &$0) }
                return ServiceConfiguration(name: name, service: service, source: source)
            }
        }
    }
}
