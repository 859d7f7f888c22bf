extension ConfigurationReader {
    /// One text, or a list of at most `limit` texts and at least one; `nil` if the key is absent.
    public mutating func oneOrMoreStrings(_ key: String, limit: Int, about: String = "") -> [String]? {
        describe(key, "text, or list of at most \(limit)", about: about)
        guard let value = value(key) else { return nil }
        if case .list(let values) = value.content {
            guard values.count <= limit else {
                report("At most \(limit) texts are taken here.", at: key)
                return []
            }
            return strings(key)
        }
        return [string(key)]
    }

    /// Reads a list of maps, each with its own reader and a path such as `devices[0]`. A missing list is empty; a
    /// single map counts as a list of one. The issues and unknown keys of the maps become issues of this map.
    /// - Parameter limit: the most maps allowed; a longer list is one issue, and none of its maps is read.
    public mutating func sections<Result>(
        _ key: String, limit: Int, about: String = "", _ read: (inout ConfigurationReader) -> Result
    ) -> [Result] {
        describe(key, "list of at most \(limit) maps", about: about)
        if isDescribing {
            var reader = ConfigurationReader(describing: join("\(key)[]"))
            _ = read(&reader)
            adopt(&reader)
            return []
        }
        guard let value = value(key) else { return [] }
        let values: [ConfigurationValue]
        switch value.content {
        case .list(let list): values = list
        case .map: values = [value]
        default:
            report("A list is needed here: entries that begin with a hyphen, or [] for none.", at: key)
            return []
        }
        guard values.count <= limit else {
            report("\(values.count) entries are too many; at most \(limit) are taken.", at: key)
            return []
        }
        return values.enumerated().map { index, value in
            var reader = ConfigurationReader(value, path: join("\(key)[\(index)]"), place: place)
            let result = read(&reader)
            adopt(&reader)
            return result
        }
    }

    /// Marks every key of the map as known, for use where another issue already makes the keys meaningless.
    public mutating func ignoreOtherKeys() {
        for key in keys { _ = value(key) }
    }
}
