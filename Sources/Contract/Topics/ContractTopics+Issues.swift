import Vitals

extension ContractTopics {
    /// The most bytes of a response topic. MQTT allows 65,535, but every answer is stored with its topic.
    package static let maximumResponseTopicLength = 1024
    /// The most bytes of the base: every message contains it.
    package static let maximumBaseLength = 128

    /// What is wrong with a base, as text for a person; `nil` if it is valid.
    package static func issue(inBase base: String) -> String? {
        if let issue = issue(inName: base, maximumLength: maximumBaseLength) { return issue }
        let levels = base.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return levels.contains(where: \.isEmpty) ? "must not have an empty level" : nil
    }

    /// What is wrong with a response topic, as text for a person; `nil` if it is valid.
    ///
    /// An answer within the gateway's own topics or those of discovery could pass for a state, a command or an entity.
    /// - Parameter discoveryPrefix: the prefix of Home Assistant's discovery; `nil` if discovery is off.
    package func issue(inResponseTopic topic: String, discoveryPrefix: String?) -> String? {
        if let issue = Self.issue(inName: topic, maximumLength: Self.maximumResponseTopicLength) { return issue }
        for prefix in [root, discoveryPrefix].compactMap({ $0 }) where topic == prefix || topic.isBelow(prefix) {
            return "must not be inside \(prefix)"
        }
        return nil
    }

    /// What is wrong with a filter of what others publish, as text for a person; `nil` if it is valid.
    ///
    /// The gateway's own messages, or those that announce its entities, would come back to it as measurements.
    /// - Parameter discoveryPrefix: the prefix of Home Assistant's discovery; `nil` if discovery is off.
    package func issue(inFilter filter: String, discoveryPrefix: String?) -> String? {
        let levels = filter.split(separator: "/", omittingEmptySubsequences: false)
        for (index, level) in levels.enumerated() where level != "+" && !(level == "#" && index == levels.count - 1) {
            if level.utf8.contains(where: { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "#") }) {
                return "must have + only as a whole level, and # only as the last one"
            }
        }
        let name = String(filter.map { $0 == "+" || $0 == "#" ? "x" : $0 })
        if let issue = Self.issue(inName: name, maximumLength: Self.maximumResponseTopicLength) { return issue }
        for prefix in [base, discoveryPrefix].compactMap(\.self) where TopicFilter(filter).reaches(into: prefix) {
            return "must take nothing inside \(prefix), which would be a loop"
        }
        return nil
    }

    /// What makes a text invalid as the topic of a message (MQTT 5, sections 1.5.4 and 4.7); a broker closes the
    /// connection over it.
    private static func issue(inName name: String, maximumLength: Int) -> String? {
        if name.isEmpty { return "must not be empty" }
        if name.utf8.count > maximumLength { return "must not be longer than \(maximumLength) bytes" }
        if name.utf8.contains(where: { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "#") }) {
            return "must not have the wildcards + and #"
        }
        if name.utf8.first == UInt8(ascii: "$") { return "must not begin with $, which is the broker's own" }
        let isText = name.unicodeScalars.allSatisfy {
            $0.properties.generalCategory != .control && !$0.properties.isNoncharacterCodePoint
        }
        return isText ? nil : "must not have control characters"
    }
}

extension String {
    fileprivate func isBelow(_ prefix: String) -> Bool {
        utf8.starts(with: prefix.utf8) && utf8.dropFirst(prefix.utf8.count).first == UInt8(ascii: "/")
    }
}
