import GatewayKit
import Vitals

/// The options of a device with a health service.
///
/// - `user`: the only user slot of a cuff or a scale whose records count, 0 to 254; without it all do.
/// - `variability`: whether the variability is computed from the times between heartbeats; `true` by default.
struct HealthOptions: Sendable, Hashable {
    var user: Int?
    var hasVariability = true

    /// The slots of the Bluetooth services: 255 means an unknown user.
    static let users = 0...254

    init(user: Int? = nil, hasVariability: Bool = true) {
        self.user = user
        self.hasVariability = hasVariability
    }

    init(_ options: inout ConfigurationReader) {
        user = options.optionalInteger(
            "user", in: Self.users, about: "The only user slot whose records count; without it all do.")
        hasVariability = options.flag(
            "variability", default: true,
            about: "Whether the variability is computed from the times between heartbeats.")
    }
}
