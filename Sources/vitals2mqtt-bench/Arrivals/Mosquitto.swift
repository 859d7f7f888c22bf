internal import CMosquitto

/// libmosquitto as a whole.
enum Mosquitto {
    private static let isPrepared: Bool = mosquitto_lib_init() == MOSQ_ERR_SUCCESS.rawValue

    /// Initialises the library once: it is not thread-safe by itself.
    static func prepare() { _ = isPrepared }
}
