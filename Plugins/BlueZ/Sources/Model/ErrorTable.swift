import Foundation
import GatewayKit

/// The meaning of each error of BlueZ and D-Bus for a link, and the remedy for a person. The names and texts are those of BlueZ's
/// manual pages and of its `src/error.h`.
enum ErrorTable {
    struct Row: Sendable {
        /// The error's name; `org.bluez.Error.` is left out.
        var name: String
        /// A part of the error's text; empty for any.
        var text = ""
        var code: LinkError.Code
        /// What happened, and the remedy.
        var meaning: String
    }

    static let rows: [Row] = [
        Row(
            name: "NotReady", code: .unreachable,
            meaning: "the adapter is off. Switch it on: rfkill unblock bluetooth, bluetoothctl power on."),
        Row(
            name: "Blocked", code: .unreachable,
            meaning: "the adapter is blocked. Unblock it: rfkill unblock bluetooth."),
        Row(
            name: "Failed", text: "abort-by-local", code: .unreachable,
            meaning:
                "the adapter gave up. The device is out of reach, asleep, or connected to a phone. It is tried again when it advertises; "
                + "if it always fails, restart BlueZ: systemctl restart bluetooth."),
        Row(
            name: "Failed", text: "Software caused connection abort", code: .unreachable,
            meaning:
                "the adapter gave up. The device is out of reach, asleep, or connected to a phone. It is tried again when it advertises."
        ),
        Row(
            name: "Failed", text: "le-connection-concurrent-connection-limit", code: .unreachable,
            meaning:
                "the adapter has as many connections as it can. Write a smaller links for it, or end those of other programs."
        ),
        Row(
            name: "Failed", text: "le-connection-abort-by-remote", code: .unreachable,
            meaning:
                "the device ended the attempt. It is tried again when it advertises; check whether a phone is connected to it."
        ),
        Row(
            name: "Failed", text: "le-connection-key-missing", code: .unreachable,
            meaning: "the device has forgotten the pairing. Remove it (bluetoothctl remove ADDRESS), and pair it again."
        ),
        Row(
            name: "Failed", text: "le-connection-adapter-not-powered", code: .unreachable,
            meaning: "the adapter is off. Switch it on: rfkill unblock bluetooth, bluetoothctl power on."),
        Row(
            name: "Failed", text: "le-connection-busy", code: .unreachable,
            meaning: "the adapter is busy with another connection. It is tried again."),
        Row(
            name: "Failed", text: "le-connection-refused", code: .unreachable,
            meaning: "the device refuses the connection. Check whether a phone is connected to it."),
        Row(
            name: "Failed", text: "le-connection-gatt-browsing", code: .unreachable,
            meaning:
                "the services of the device could not be read. It is tried again; if it always fails, remove it (bluetoothctl remove ADDRESS)."
        ),
        Row(
            name: "Failed", text: "le-connection-link-layer-protocol-error", code: .unreachable,
            meaning:
                "the adapter and the device do not understand each other. Bring the device nearer, or try another adapter."
        ),
        Row(
            name: "Failed", text: "le-connection-not-supported", code: .unreachable,
            meaning: "the adapter cannot do it. Low Energy needs Bluetooth 4.0."),
        Row(
            name: "Failed", text: "le-connection-already-connected", code: .unreachable,
            meaning: "the device is connected already. It is tried again."),
        Row(
            name: "Failed", text: "le-connection-invalid-arguments", code: .unreachable,
            meaning: "this version of BlueZ does not take it. 5.51 is needed."),
        Row(
            name: "Failed", text: "le-connection-bad-socket", code: .unreachable,
            meaning: "BlueZ lost its socket. If it does so again: systemctl restart bluetooth."),
        Row(
            name: "Failed", text: "le-connection-create-socket", code: .unreachable,
            meaning: "BlueZ got no socket. Check whether it has enough descriptors: journalctl -u bluetooth."),
        Row(
            name: "Failed", text: "le-connection-memory-allocation", code: .unreachable,
            meaning: "BlueZ got no memory. Check free memory, and journalctl -u bluetooth."),
        Row(
            name: "Failed", text: "le-connection-unknown", code: .unreachable,
            meaning:
                "the connection failed, and BlueZ does not say why. It is tried again; journalctl -u bluetooth may say more."
        ),
        Row(
            name: "Failed", text: "le-connection-profile-unavailable", code: .unreachable,
            meaning: "the device offers no service that BlueZ knows. It is tried again when it advertises."),
        Row(
            name: "Failed", text: "br-connection", code: .unreachable,
            meaning:
                "BlueZ tried classic Bluetooth. Remove the device (bluetoothctl remove ADDRESS), so that it is found again as Low Energy."
        ),
        Row(
            name: "Failed", text: "timeout", code: .timeout,
            meaning: "the device did not answer. Bring it nearer, and check whether a phone is connected to it."),
        Row(name: "Failed", text: "Not connected", code: .broken, meaning: "the device is no longer connected."),
        Row(
            name: "ConnectionAttemptFailed", code: .unreachable,
            meaning: "the device did not answer. Bring it nearer, and check whether a phone is connected to it."),
        Row(
            name: "InProgress", code: .unreachable,
            meaning: "the adapter is busy with the device; another program may use it. It is tried again."),
        Row(
            name: "AlreadyExists", code: .unreachable,
            meaning: "BlueZ has it already. If it stays so: systemctl restart bluetooth."),
        Row(name: "NotConnected", code: .broken, meaning: "the device is no longer connected."),
        Row(
            name: "AuthenticationFailed", code: .unreachable,
            meaning:
                "the pairing failed. Put the device in its pairing mode; if it shows a passkey, write pairing: passkey; if it was paired "
                + "before, remove it first: bluetoothctl remove ADDRESS."),
        Row(
            name: "AuthenticationCanceled", code: .unreachable,
            meaning: "the pairing was cancelled on the device. Allow it there."),
        Row(
            name: "AuthenticationRejected", code: .unreachable,
            meaning: "the device rejects the pairing. Put it in its pairing mode; it may be paired with a phone."),
        Row(
            name: "AuthenticationTimeout", code: .timeout,
            meaning: "the pairing took too long. Put the device in its pairing mode, and allow it there."),
        Row(
            name: "DoesNotExist", code: .unreachable,
            meaning: "the device is no longer in reach. It is connected when it advertises."),
        Row(
            name: "NotAvailable", code: .unreachable,
            meaning: "the device offers no connection. It is tried again when it advertises."),
        Row(
            name: "NotSupported", code: .unreachable,
            meaning: "the adapter cannot do it. Low Energy needs Bluetooth 4.0."),
        Row(
            name: "NotAuthorized", code: .unreachable,
            meaning: "BlueZ does not allow it. Check the adapter with bluetoothctl show."),
        Row(
            name: "InvalidArguments", code: .unreachable,
            meaning: "this version of BlueZ does not take it. 5.51 is needed."),
        Row(
            name: "org.freedesktop.DBus.Error.AccessDenied", code: .unreachable,
            meaning:
                "D-Bus does not let the gateway use BlueZ. Add its user to the group bluetooth, and start it again."),
        Row(
            name: "org.freedesktop.DBus.Error.ServiceUnknown", code: .unreachable,
            meaning: "BlueZ does not run. Start it: systemctl start bluetooth."),
        Row(
            name: "org.freedesktop.DBus.Error.NameHasNoOwner", code: .unreachable,
            meaning: "BlueZ does not run. Start it: systemctl start bluetooth."),
        Row(
            name: "org.freedesktop.DBus.Error.NoReply", code: .broken,
            meaning: "BlueZ ended before it answered. If it does so again, check journalctl -u bluetooth."),
        Row(
            name: "org.freedesktop.DBus.Error.UnknownObject", code: .unreachable,
            meaning: "the device is no longer in reach. It is connected when it advertises."),
        Row(
            name: "org.freedesktop.DBus.Error.UnknownMethod", code: .unreachable,
            meaning: "the device is no longer in reach, or BlueZ is older than 5.51."),
        Row(
            name: "org.freedesktop.DBus.Error.LimitsExceeded", code: .unreachable,
            meaning: "D-Bus is overloaded. Check which program floods it."),
    ]

    /// The row of an error; `nil` if none is known.
    static func row(_ name: String, _ text: String) -> Row? {
        rows.first { row in
            let full = row.name.contains(".") ? row.name : "org.bluez.Error." + row.name
            return full == name && (row.text.isEmpty || text.contains(row.text))
        }
    }
}

extension LinkError {
    /// The error of a call of BlueZ; `what` begins its message, such as `No connection to A4:C1:38:00:11:22`.
    init(of error: BusError, _ what: String) {
        switch error {
        case .reply(let name, let text):
            if let row = ErrorTable.row(name, text) {
                self.init(row.code, "\(what): \(row.meaning)")
            } else {
                self.init(.unreachable, "\(what): \(error). It is tried again; journalctl -u bluetooth may say more.")
            }
        case .timeout:
            self.init(.timeout, "\(what): BlueZ did not answer in time. If it stays so: systemctl restart bluetooth.")
        case .closed: self.init(.broken, "\(what): \(error).")
        case .cancelled: self.init(.cancelled, "The gateway no longer waits for the device.")
        case .invalid(let reason): self.init(.broken, "\(what): \(reason)")
        }
    }
}

extension GATTError {
    /// The error of a request to a device. BlueZ writes most errors of the Attribute Protocol as names of its own, and the others in
    /// its text.
    init(_ error: BusError) {
        guard case .reply(let name, let text) = error else {
            self = .link(LinkError(of: error, "The request"))
            return
        }
        switch name.split(separator: ".").last ?? "" {
        case "Failed":
            if let code = Self.code(in: text) {
                self = .refused(ATTError(code: code))
                return
            }
        case "NotPermitted" where text.hasPrefix("Read"):
            self = .refused(.readNotPermitted)
            return
        case "NotPermitted" where text.hasPrefix("Write"):
            self = .refused(.writeNotPermitted)
            return
        case "NotPermitted" where text.contains("paired"):
            self = .refused(.insufficientAuthentication)
            return
        case "NotPermitted", "NotSupported":
            self = .refused(.requestNotSupported)
            return
        case "NotAuthorized":
            self = .refused(.insufficientAuthorization)
            return
        case "InvalidOffset":
            self = .refused(ATTError(code: 0x07))
            return
        case "InvalidValueLength":
            self = .refused(.invalidLength)
            return
        case "InProgress":
            self = .refused(.procedureInProgress)
            return
        case "UnknownObject", "UnknownMethod":
            self = .refused(.invalidHandle)
            return
        default: break
        }
        self = .link(LinkError(of: error, "The request"))
    }

    /// The code in a text such as `Operation failed with ATT error: 0x80`.
    private static func code(in text: String) -> UInt8? {
        guard let place = text.range(of: "ATT error: 0x") else { return nil }
        return UInt8(text[place.upperBound...].prefix(2), radix: 16)
    }
}
