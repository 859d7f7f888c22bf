/// How hard MQTT tries to deliver a message. Quality of service 2 is not offered: consumers of this gateway recognise
/// a repeated sample by its id, which costs half the packets.
package enum QualityOfService: Int, Sendable, Hashable, CaseIterable {
    /// 0: sent once, never acknowledged.
    case atMostOnce = 0
    /// 1: acknowledged by the receiver, perhaps delivered twice.
    case atLeastOnce = 1
}
