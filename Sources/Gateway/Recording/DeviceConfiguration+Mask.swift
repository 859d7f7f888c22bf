import GatewayKit
import Recordings

extension DeviceConfiguration {
    /// What a recording of this device must not show.
    var mask: Mask { Mask(entry: source, contents: contents) }

    /// Why a recording has nothing of this device, as a part of a sentence; `nil` if it has its links.
    package var reasonWithoutRecording: String? {
        guard let transport else { return "its driver has no transport" }
        return type(of: driver).link == .documents ? "its transport \(type(of: transport).name) carries documents" : nil
    }
}

extension Mask {
    /// Masks the content of the files and variables that an entry of `devices:` names, the values of keys that say that they are secret or
    /// whose device it is, and its addresses.
    init(entry: ConfigurationValue, contents: [Secret]) {
        let texts = entry.texts(of: "")
        let addresses = texts.filter { SensitiveKey.isAddress($0.key) }.map(\.text)
        let names = texts.filter { SensitiveKey.isIdentity($0.key) && !SensitiveKey.isAddress($0.key) }.map(\.text)
        let secrets = contents.map(\.value) + texts.filter { SensitiveKey.isSecret($0.key) }.map(\.text)
        self.init(secrets: secrets, names: names, addresses: addresses)
    }
}

extension ConfigurationValue {
    /// Every text in this value, with its key. For the slots of `people: {1: anna}`, that of the slots.
    fileprivate func texts(of key: String) -> [(key: String, text: String)] {
        switch content {
        case .scalar(let text, _): [(key, text)]
        case .list(let values): values.flatMap { $0.texts(of: key) }
        case .map(let members): members.flatMap { $0.value.texts(of: Int($0.key.text) == nil ? $0.key.text : key) }
        case .null: []
        }
    }
}
