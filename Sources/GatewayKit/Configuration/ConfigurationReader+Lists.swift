extension ConfigurationReader {
    /// One text or a list of texts, at least one and at most `limit`; `nil` where the key does not stand.
    public mutating func oneOrMoreStrings(_ key: String, limit: Int) -> [String]? {
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

    /// Reads a list of maps, each by its own reader with a path such as `devices[0]`; a missing list is empty. Mistakes
    /// and unknown keys of the maps count here. A single map is taken as a list of one.
    /// - Parameter limit: how many maps are taken; more are one mistake, and none of them is read.
    public mutating func sections<Result>(
        _ key: String, limit: Int, _ read: (inout ConfigurationReader) -> Result
    ) -> [Result] {
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
            var reader = ConfigurationReader(value, path: join("\(key)[\(index)]"))
            let result = read(&reader)
            adopt(reader.finish())
            return result
        }
    }

    /// Marks every key of the map as known, where what they mean cannot be told because of another mistake.
    public mutating func ignoreOtherKeys() {
        for key in keys { _ = value(key) }
    }
}
