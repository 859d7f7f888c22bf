extension ConfigurationValue {
    /// The same value without lines, for comparing values regardless of their place in the file.
    public var withoutLines: ConfigurationValue {
        switch content {
        case .scalar, .null: ConfigurationValue(content)
        case .list(let values): ConfigurationValue(.list(values.map(\.withoutLines)))
        case .map(let members):
            ConfigurationValue(.map(members.map { (ConfigurationKey($0.key.text), $0.value.withoutLines) }))
        }
    }

    /// The value of a map's key, `nil` if there is none.
    public subscript(key: String) -> ConfigurationValue? {
        guard case .map(let members) = content else { return nil }
        return members.first { $0.key.text == key }?.value
    }
}
