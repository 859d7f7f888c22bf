package import GatewayKit

extension ConfigurationValue {
    /// A section with these keys and their values, all of which are quoted or none.
    package static func section(
        _ members: KeyValuePairs<String, String>, isQuoted: Bool = false
    ) -> ConfigurationValue {
        ConfigurationValue(
            .map(
                members.map {
                    (ConfigurationKey($0.key), ConfigurationValue(.scalar($0.value, isQuoted: isQuoted)))
                }))
    }
}
