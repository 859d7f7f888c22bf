import GatewayKit

extension GatewayConfiguration {
    /// The parts of the file that are only read at the start.
    private static let fixedSections = ["gateway", "mqtt", "store", "home_assistant"]

    /// What `sectionsThatNeedRestart` compares. The gateway keeps it as long as it runs, without the thousands of devices that
    /// a file may have.
    package var fixedPart: GatewayConfiguration {
        var part = self
        (part.devices, part.templates, part.services) = ([], [], [])
        if case .map(let members) = source.content {
            part.source.content = .map(members.filter { Self.fixedSections.contains($0.key.text) })
        }
        return part
    }

    /// The parts that differ from `other` and need a restart, including a changed text of the password's or token's file. Devices,
    /// their defaults and the log level do not need one.
    package func sectionsThatNeedRestart(comparedWith other: GatewayConfiguration) -> [String] {
        Self.fixedSections.filter { key in
            if key == "mqtt", mqtt.password != other.mqtt.password { return true }
            if key == "home_assistant", homeAssistant.token != other.homeAssistant.token { return true }
            return switch (source[key], other.source[key]) {
            case (nil, nil): false
            case (let mine?, let theirs?): !mine.hasSameMeaning(as: theirs)
            default: true
            }
        }
    }
}
