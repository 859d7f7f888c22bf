/// The version of the gateway.
package enum GatewayVersion {
    /// A semantic version of the contract and the configuration file.
    package static let current = "0.1.0"
}
