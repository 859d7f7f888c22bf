import GatewayKit
import Vitals

/// How a ring is used.
///
/// - `utc_offset`: minutes that the ring's clock is ahead of UTC, -720 to 840, the same in summer and winter; 0 by default.
struct ColmiOptions: Sendable, Hashable {
    var zone = RingZone(offset: 0)

    init(offset: Int = 0) { zone = RingZone(offset: offset) }

    init(_ options: inout ConfigurationReader) {
        zone = RingZone(
            offset: options.integer(
                "utc_offset", in: RingZone.offsets, default: 0,
                about: "Minutes that the ring's clock is ahead of UTC, the same in summer and winter."))
    }
}
