import Contract
package import GatewayKit
package import HomeAssistant
package import HomeAssistantStatistics
import Listening

/// `home_assistant:`, the announcements to Home Assistant, and its address for the import of statistics.
package struct HomeAssistantConfiguration: Sendable, Hashable {
    /// `discovery`: `device`, `component` or `off`. Default `device`.
    package var discovery: DiscoveryOptions.Mode
    /// `prefix`: Home Assistant's discovery prefix. Default `homeassistant`.
    package var prefix: String
    /// `compatibility`: the oldest supported Home Assistant, in quotes. Default `"2024.12"`.
    package var compatibility: HomeAssistantVersion
    /// `url`: its address, as a browser shows it, to import statistics of late samples. Default none.
    package var address: HomeAssistantAddress?
    /// `token`: `{file: PATH}` or `{env: NAME}`: a long-lived token of an administrator. Needed with `url`.
    package var token: Secret?
    /// `ca_file`: a PEM file with the authorities for an address with https. Default: the system's.
    package var authorityFile: String?
}

extension HomeAssistantConfiguration {
    /// Reads `home_assistant:`.
    /// - Parameter sampleRetention: how long samples are kept, from which statistics are imported; `nil` for ever.
    init(_ reader: inout ConfigurationReader, sampleRetention: Duration?) {
        discovery = reader.choice(
            "discovery", default: .device,
            about: "One announcement per device, or one per entity (older Home Assistant, openHAB).")
        prefix = reader.string(
            "prefix", default: DiscoveryOptions.defaultPrefix, about: "Home Assistant's discovery prefix.")
        if let issue = ContractTopics.issue(inBase: prefix) {
            reader.report("The prefix \(issue).", at: "prefix")
        }
        compatibility = reader.version("compatibility", default: .deviceDiscovery)
        let url = reader.optionalString("url", about: "Its address, to import the statistics of late samples.")
        address = url.flatMap { text in
            let address = HomeAssistantAddress(url: text)
            if address == nil {
                reader.report("An address is needed here, such as http://homeassistant.local:8123.", at: "url")
            }
            return address
        }
        token = reader.secret("token", about: "A long-lived token of an administrator; needed with url.")
        authorityFile = reader.pemFile("ca_file", about: "The authorities for https, in place of the system's.")
        checkImport(&reader, sampleRetention)
        if discovery == .device, compatibility < .deviceDiscovery {
            reader.report(
                "Home Assistant before \(HomeAssistantVersion.deviceDiscovery) needs discovery: component.",
                at: "compatibility")
        }
    }
}

extension HomeAssistantConfiguration {
    /// Checks what the import of statistics needs.
    private func checkImport(_ reader: inout ConfigurationReader, _ sampleRetention: Duration?) {
        if (reader.value("url") == nil) != (reader.value("token") == nil) {
            reader.report("url and token belong together.", at: token == nil ? "url" : "token")
        }
        if let token, token.value.contains(where: { !$0.isASCII || $0 <= " " }) {
            reader.report("A token of Home Assistant is one line without spaces.", at: "token")
        }
        guard let address else {
            if authorityFile != nil { reader.report("ca_file does nothing here without an url.", at: "ca_file") }
            return
        }
        if discovery == .off {
            reader.report("Statistics belong to announced entities: discovery must not be off.", at: "url")
        }
        if let sampleRetention, sampleRetention < StatisticsSettings.shortestRetention {
            reader.report(
                "Statistics need samples of four days: store.retention.samples must be 4d or more.", at: "url")
        }
        if let authorityFile {
            if !address.isTLS {
                reader.report("ca_file does nothing here: the url does not begin with https://.", at: "ca_file")
            } else {
                reader.reportUnusable(certificate: (name: "ca_file", path: authorityFile), isRead: true)
            }
        }
        if !address.isTLS, !address.isLoopback {
            reader.warn("The token goes to \(address) in the clear; https:// protects it.", at: "url")
        }
    }
}

extension ConfigurationReader {
    /// A version in quotes. Without them YAML means a number, and 2024.10 would be 2024.1.
    fileprivate mutating func version(
        _ key: String, default: HomeAssistantVersion
    ) -> HomeAssistantVersion {
        describe(key, "version in quotes", default: "\"\(`default`)\"", about: "The oldest supported Home Assistant.")
        guard let value = value(key) else { return `default` }
        guard case .scalar(let text, let isQuoted) = value.content, let version = HomeAssistantVersion(text) else {
            report("A version of Home Assistant is needed here, in quotes: \"2024.12\".", at: key)
            return `default`
        }
        if !isQuoted {
            report(
                "The version must be in quotes, \"\(text)\": without them it is a number, and 2024.10 is 2024.1.",
                at: key)
        }
        return version
    }
}
