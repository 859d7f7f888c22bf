package import Engines
package import GatewayKit
package import Vitals

/// A configured device: its description, its engines' policy, and its connection.
///
/// It is a class, since lists of devices are kept at several places, and a copy has half a kilobyte.
package final class DeviceSetup: Sendable {
    package let info: DeviceInfo
    package let policy: DevicePolicy
    package let opener: DeviceAgent.Opener
    /// Where its transport reports that the device can be reached.
    package let presence: DevicePresence
    /// What its driver keeps beyond the end of the gateway.
    package let notes: DeviceNotes
    /// Where its transport asks for the passkey of the device; `nil` if it does not.
    package let passkeys: PasskeyRequests?
    /// The services of plugins that its driver and its transport use.
    package let services: [ServiceSetup]
    /// Changes if and only if the device's configuration changes.
    package let fingerprint: Int
    /// Its documents that come as messages of the broker; `nil` if none do.
    let messages: DocumentMessages?

    package init(
        info: DeviceInfo, policy: DevicePolicy, fingerprint: Int, services: [ServiceSetup] = [],
        presence: DevicePresence = DevicePresence(), notes: DeviceNotes = DeviceNotes(),
        passkeys: PasskeyRequests? = nil, messages: DocumentMessages? = nil, opener: @escaping DeviceAgent.Opener
    ) {
        self.info = info
        self.policy = policy
        self.fingerprint = fingerprint
        self.services = services
        self.presence = presence
        self.notes = notes
        self.passkeys = passkeys
        self.messages = messages
        self.opener = opener
    }
}
