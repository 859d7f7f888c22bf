import GatewayKit
import Vitals

/// How a ring is used.
///
/// - `live_every`: how often the present values are read, up to an hour; `0s` for never, 10 seconds by default.
struct O2Options: Sendable, Hashable {
    var liveEvery: Duration = .seconds(10)

    init(liveEvery: Duration = .seconds(10)) { self.liveEvery = liveEvery }

    init(_ options: inout ConfigurationReader) {
        liveEvery = options.duration(
            "live_every", in: .zero...(.hours(1)), default: .seconds(10),
            about: "How often the present values are read; 0s: never.")
    }
}
