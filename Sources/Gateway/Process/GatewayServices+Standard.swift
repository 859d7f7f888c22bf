import Logging

extension GatewayServices {
    /// The gateway as it is shipped: devices, SQLite, libmosquitto.
    package static let standard: Composition = { _, _, _ in throw NotComposed() }

    private struct NotComposed: Error, CustomStringConvertible {
        var description: String { "This build has no gateway in it." }
    }
}
