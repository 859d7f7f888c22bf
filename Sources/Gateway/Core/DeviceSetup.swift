package import Engines
package import GatewayKit
package import Vitals

/// A configured device: its description, its engines' policy, and its connection.
package struct DeviceSetup: Sendable {
    package var info: DeviceInfo
    package var policy: DevicePolicy
    package var opener: DeviceAgent.Opener
    /// Where its transport reports that the device can be reached.
    package var presence: DevicePresence
    /// What its driver keeps beyond the end of the gateway.
    package var notes: DeviceNotes
    /// Where its transport asks for the passkey of the device; `nil` if it does not.
    package var passkeys: PasskeyRequests?
    /// The services of plugins that its driver and its transport use.
    package var services: [ServiceSetup]
    /// Changes if and only if the device's configuration changes.
    package var fingerprint: Int
    /// Its documents that come as messages of the broker; `nil` if none do.
    var messages: DocumentMessages?

    package init(
        info: DeviceInfo, policy: DevicePolicy, fingerprint: Int, services: [ServiceSetup] = [],
        presence: DevicePresence = DevicePresence(), notes: DeviceNotes = DeviceNotes(),
        opener: @escaping DeviceAgent.Opener
    ) {
        self.info = info
        self.policy = policy
        self.fingerprint = fingerprint
        self.services = services
        self.presence = presence
        self.notes = notes
        self.opener = opener
    }
}
