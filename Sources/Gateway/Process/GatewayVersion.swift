/// The version of the gateway.
package enum GatewayVersion {
    /// A semantic version of the contract and the configuration file. It stands only here: `deploy/prepare` reads it for
    /// packages and images, and `docs/CHANGELOG.md` has an entry for it.
    package static let current = "0.2.0"
}
