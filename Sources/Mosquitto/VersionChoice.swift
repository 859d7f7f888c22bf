internal import CMosquitto
package import MQTT

/// A version of libmosquitto.
package struct LibraryVersion: Sendable, Hashable, Comparable, CustomStringConvertible {
    private let number: Int32

    /// The version with these parts, each below 1000.
    package init(_ major: Int32, _ minor: Int32, _ revision: Int32) {
        number = major * 1_000_000 + minor * 1000 + revision
    }

    private init(number: Int32) { self.number = number }

    /// The library of this process, which need not be the one that it was built with.
    package static let loaded = LibraryVersion(number: mosquitto_lib_version(nil, nil, nil))

    /// The first release that only ends the connection at a property that MQTT 5 does not have. Up to 2.0.15, `property__read` logs it
    /// for no client, and the log asserts that there is one: the process ends. Nothing of the library's interface is between the socket
    /// and that line. Debian 12 has 2.0.11; a mended copy of an older release would not show in its number.
    package static let mended = LibraryVersion(2, 0, 16)

    /// Whether a broker can end the process by a packet of MQTT 5, even one that answers CONNECT before it checks the password.
    package var endsAtUnknownProperties: Bool { self < Self.mended }

    /// What an operator has to know of this library with this `mqtt.protocol`, `nil` for `auto`; `nil` for nothing.
    package func notice(for version: MQTTVersion?) -> String? {
        guard endsAtUnknownProperties, version != .v311 else { return nil }
        let fault =
            "libmosquitto \(self) ends the program at a packet of MQTT 5 with an unknown property; \(Self.mended) and later do not. "
        guard version == nil else {
            return fault
                + "With protocol: \"5\" the broker is trusted not to send one. A service manager starts the gateway again, and "
                + "nothing that is stored is lost."
        }
        return fault
            + "So mqtt.protocol: auto is MQTT 3.1.1. \(MQTTVersion.lossOf311) For a broker that you trust, set it to \"5\"."
    }

    /// Such as `2.0.18`.
    package var description: String { "\(number / 1_000_000).\(number / 1000 % 1000).\(number % 1000)" }

    package static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}

/// Which version of MQTT is spoken with each server of a list, for the life of the process: a change of `mqtt` needs a restart.
struct VersionChoice: Sendable {
    /// How a server did not take the offered version.
    enum Refusal: Sendable {
        /// It said so, by a reason, a return code, or an answer that is none in that version.
        case said
        /// It closed the connection, as one that is just starting may do, too.
        case closed
    }
    /// The version that is configured, or the only one that the library reads safely.
    private let only: MQTTVersion?
    private var known: [BrokerServer: MQTTVersion] = [:]
    /// The servers whose fallback was reported.
    private var reported: Set<BrokerServer> = []

    /// A choice with this `mqtt.protocol`, `nil` for `auto`.
    init(_ configured: MQTTVersion?, library: LibraryVersion) {
        only = configured ?? (library.endsAtUnknownProperties ? .v311 : nil)
    }

    /// The version to offer first.
    func first(at server: BrokerServer) -> MQTTVersion { only ?? known[server] ?? .v5 }

    /// The version to offer at once after a failed attempt, if another one may help.
    mutating func next(after version: MQTTVersion, at server: BrokerServer, _ refusal: Refusal?) -> MQTTVersion? {
        guard only == nil, let refusal else { return nil }
        guard version == .v5 else {
            // It may speak version 5 by now.
            if refusal == .said { known[server] = nil }
            return nil
        }
        // One that has spoken version 5 closes a connection for another reason.
        return refusal == .closed && known[server] == .v5 ? nil : .v311
    }

    /// A server took this version, at first or after a refusal of the other. Returns whether the fallback is to be reported.
    mutating func connected(_ version: MQTTVersion, to server: BrokerServer, after refusal: Refusal?) -> Bool {
        guard only == nil else { return false }
        if refusal != .closed { known[server] = version }
        return version == .v311 && reported.insert(server).inserted
    }
}

extension VersionChoice.Refusal {
    /// What an attempt that ended before any CONNACK says of the version; `nil` for nothing.
    init?(endOfAttempt code: Int32) {
        switch mosq_err_t(code) {
        // From 2.0.12 on the library takes the return code 1 of an older broker for a malformed packet.
        case MOSQ_ERR_PROTOCOL, MOSQ_ERR_MALFORMED_PACKET: self = .said
        case MOSQ_ERR_CONN_LOST, MOSQ_ERR_ERRNO: self = .closed
        default: return nil
        }
    }
}
