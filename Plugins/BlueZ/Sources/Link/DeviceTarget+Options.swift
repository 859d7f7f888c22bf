import GatewayKit
import Vitals

extension DeviceTarget {
    private enum PairingName: String, CaseIterable {
        case none
        case justWorks = "just_works"
        case passkey, ask
    }

    /// Reads the keys of `transport:`.
    init(_ options: inout ConfigurationReader) {
        adapter = options.optionalString("adapter", about: "Only this adapter, by name or address.")
        let target = BluetoothTarget(&options)
        (selector, mode, connectTimeout) = (target.selector, target.mode, target.connectTimeout)
        let secret = options.secret("passkey", about: "The six digits for pairing: passkey.")
        let name = options.choice(
            "pairing", of: PairingName.self, default: .none, about: "How the device is paired; ask: by a person.")
        switch name {
        case .none: pairing = .none
        case .justWorks: pairing = .justWorks
        case .ask: pairing = .ask
        case .passkey:
            pairing = .ask
            guard let secret else {
                if options.value("passkey") == nil {
                    options.report(
                        "passkey is missing: {file: PATH} or {env: NAME} with its six digits. If the device makes a new one for "
                            + "each pairing, write pairing: ask.", at: "pairing")
                }
                return
            }
            guard let passkey = Passkey(secret.value) else {
                options.report("A passkey has six digits.", at: "passkey")
                return
            }
            pairing = .passkey(passkey)
        }
        if [.none, .justWorks, .ask].contains(pairing), secret != nil {
            options.report("It has a meaning only with pairing: passkey.", at: "passkey")
        }
    }
}
