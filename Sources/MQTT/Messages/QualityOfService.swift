/// The delivery guarantee of a message. Quality of service 2 is not offered: consumers recognise a repeated sample by
/// its id, which costs half the packets.
package enum QualityOfService: Int, Sendable, Hashable, CaseIterable {
    /// 0: sent at most once, never acknowledged.
    case atMostOnce = 0
    /// 1: acknowledged by the receiver, and possibly delivered twice.
    case atLeastOnce = 1
}
