internal import CMosquitto

/// Global initialisation of libmosquitto.
enum Mosquitto {
    private static let isPrepared: Bool = mosquitto_lib_init() == MOSQ_ERR_SUCCESS.rawValue

    /// Initialises the library once, because its initialisation is not thread-safe.
    static func prepare() { _ = isPrepared }
}
