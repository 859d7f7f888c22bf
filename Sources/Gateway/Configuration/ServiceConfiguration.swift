package import GatewayKit
import Listening

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

extension [ServiceConfiguration] {
    /// The services that can scan for devices, as they are configured or with their defaults. They are others than those of the
    /// devices, so that one can be opened for a scan at any time.
    func scanners(of plugins: PluginCatalogue, _ place: ConfigurationPlace) -> [ServiceConfiguration] {
        plugins.services.sorted { $0.key < $1.key }.compactMap { name, type in
            guard let type = type as? any ScanningService.Type else { return nil }
            let source = first { $0.name == name }?.source ?? ConfigurationValue(.null)
            var reader = ConfigurationReader(source, place: place)
            let service = type.init(options: &reader)
            // One with errors, or without what it needs, cannot scan.
            guard reader.finish().isEmpty else { return nil }
            return ServiceConfiguration(name: name, service: service, source: source, contents: reader.contents)
        }
    }
}

extension ConfigurationReader {
    /// Reads `plugins`: the entries of the services that these devices use, also those that are missing, and the others, which
    /// get a warning.
    /// - Parameter web: where the gateway itself listens.
    mutating func services(
        _ key: String, of devices: [DeviceConfiguration], _ plugins: PluginCatalogue, beside web: ListenAddress?
    ) -> [ServiceConfiguration] {
        let used = Set(devices.flatMap(\.serviceNames))
        let webLine = value("web")?["listen"]?.line ?? line(of: "web")
        var listens = TakenListens(beside: web.map { TakenListens.Listener(path: "web", line: webLine, address: $0) })
        return section(key, about: "What several devices of a plugin share, by its name.") { reader in
            let configured = reader.keys.filter { !used.contains($0) }
            for name in configured where plugins.services[name] != nil {
                reader.warn("No device uses \(name); it is not started.", at: name)
            }
            return (used.sorted() + configured).compactMap { name in
                guard let type = plugins.services[name] else {
                    let isMoved = plugins.transport(named: name) is any PostTransport.Type
                    reader.report(
                        isMoved
                            ? "Devices post to the gateway's own listener: write web: with these keys instead."
                            : "There is no plugin \(name) whose devices share anything. "
                                + plugins.services(without: name),
                        at: name)
                    _ = reader.value(name)
                    return nil
                }
                let source = reader.value(name) ?? ConfigurationValue(.null)
                let (service, contents) = reader.section(name) { options in
                    let service = type.init(options: &options)
                    // One that is not started listens nowhere.
                    if used.contains(name), let issue = listens.add(service, named: name, &options) {
                        options.adopt([issue])
                    }
                    return (service, options.contents)
                }
                return ServiceConfiguration(name: name, service: service, source: source, contents: contents)
            }
        }
    }
}

/// Checks where services listen: no two may listen at the same address.
struct TakenListens {
    /// What listens: the path of its section, and the line that says where.
    struct Listener {
        let path: String
        let line: Int
        let address: ListenAddress

        /// For a person: `web`, or a plugin's name.
        var name: Substring { path.split(separator: ".").last ?? "" }
    }

    private var services: [Listener] = []

    /// - Parameter web: the gateway's own listener, if it has one.
    init(beside web: Listener? = nil) { services = web.map { [$0] } ?? [] }

    /// Takes the address of a service. Returns what is wrong with it, with the remedy, at a line that the file has.
    mutating func add(
        _ service: any PluginService, named name: String, _ options: inout ConfigurationReader
    ) -> ConfigurationIssue? {
        guard let address = service.listens.flatMap({ ListenAddress($0) }) else { return nil }
        let isWritten = options.value("listen") != nil
        if let other = services.first(where: { $0.address.collides(with: address) }) {
            if isWritten {
                return ConfigurationIssue(
                    line: options.line(of: "listen"), path: "\(options.path).listen",
                    message: "The address \(address) is that of \(other.name) already. Choose another port.")
            }
            var free = address
            free.port += free.port < 65_535 ? 1 : -1
            return ConfigurationIssue(
                line: other.line, path: "\(other.path).listen",
                message:
                    "The plugin \(name) listens at \(address), unless it is told where. Choose another port here, or "
                    + "write plugins: {\(name): {listen: \"\(free)\"}}.")
        }
        services.append(Listener(path: options.path, line: options.line(of: "listen"), address: address))
        return nil
    }
}
