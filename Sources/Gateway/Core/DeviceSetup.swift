package import Engines
package import Vitals

/// A device as it is configured: what is known of it, how its engines decide, and how it is reached.
package struct DeviceSetup: Sendable {
    package var info: DeviceInfo
    package var policy: DevicePolicy
    package var opener: DeviceAgent.Opener
    /// Changes with anything in the device's configuration, and with nothing else.
    package var fingerprint: Int

    package init(info: DeviceInfo, policy: DevicePolicy, fingerprint: Int, opener: @escaping DeviceAgent.Opener) {
        self.info = info
        self.policy = policy
        self.fingerprint = fingerprint
        self.opener = opener
    }
}
