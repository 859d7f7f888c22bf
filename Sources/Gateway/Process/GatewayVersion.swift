/// The version of the gateway.
package enum GatewayVersion {
    /// By semantic versioning: the contract and the configuration file are what it is about.
    package static let current = "0.1.0"
}
