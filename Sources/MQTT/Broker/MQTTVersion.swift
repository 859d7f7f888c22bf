/// A version of the MQTT protocol.
package enum MQTTVersion: String, Sendable, Hashable, CaseIterable {
    /// MQTT 5.0: with properties, reason codes and retain-as-published.
    case v5 = "5"
    /// MQTT 3.1.1: without message properties, and without refusals of messages.
    case v311 = "3.1.1"
}
