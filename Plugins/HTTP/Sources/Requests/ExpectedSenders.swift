import GatewayKit
import Synchronization
import Vitals

/// The devices that may post, with their documents.
final class ExpectedSenders: Sendable {
    /// How long a device may still post after the gateway's last attempt to connect it: longer than the longest wait between two
    /// attempts (5 minutes).
    static let memory: Duration = .minutes(10)

    /// A device that may post.
    struct Sender: Sendable {
        var token: Secret
        var presence: DevicePresence
        let documents = DocumentQueue()
        /// `nil` while the gateway waits for its documents or takes them.
        var forgottenAt: Duration?

        /// Hands a document over to the driver.
        func add(_ document: Document) {
            _ = documents.add(document)
            presence.sawDevice()
        }
    }
    private let senders = Mutex<[DeviceID: Sender]>([:])
    /// The token for the comparison with that of an unknown device, so that its refusal takes as long.
    private static let nobody = Secret("no token is this long, and this one is nobody's")

    /// Lets a device post.
    func expect(_ device: DeviceID, token: Secret, presence: DevicePresence) -> DocumentQueue {
        let documents = senders.withLock { senders in
            var sender = senders[device] ?? Sender(token: token, presence: presence)
            (sender.token, sender.presence, sender.forgottenAt) = (token, presence, nil)
            senders[device] = sender
            return sender.documents
        }
        // Its token is worth nothing from then on.
        presence.whenEnded { [weak self, weak presence] in
            if let presence { self?.remove(device, presence) }
        }
        return documents
    }

    /// Forgets a device at once, unless it is expected for another configuration, and answers what waits for its driver.
    private func remove(_ device: DeviceID, _ presence: DevicePresence) {
        let removed = senders.withLock { senders -> Sender? in
            guard senders[device]?.presence === presence else { return nil }
            return senders.removeValue(forKey: device)
        }
        removed?.documents.end("The gateway no longer takes documents of this device.")
    }

    /// Forgets a device some time after this, unless it is expected again.
    func forget(_ device: DeviceID, at uptime: Duration) {
        senders.withLock { $0[device]?.forgottenAt = uptime + Self.memory }
    }

    /// The device of this name, if it has this token.
    func sender(_ name: String, token: String, uptime: Duration) -> Sender? {
        let device = DeviceID(name)
        let sender = senders.withLock { senders in
            senders = senders.filter { $0.value.forgottenAt.map { uptime < $0 } ?? true }
            return device.flatMap { senders[$0] }
        }
        let isRight = (sender?.token ?? Self.nobody).matches(token.utf8)
        return isRight ? sender : nil
    }
}
