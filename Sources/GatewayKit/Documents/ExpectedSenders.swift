import Concurrency
import Synchronization
package import Vitals

/// The devices that may post to the gateway's own listener, with their documents.
package final class ExpectedSenders: Sendable {
    /// How long a device may still post after the gateway's last attempt to connect it: longer than the longest wait between two
    /// attempts (5 minutes).
    package static let memory: Duration = .minutes(10)

    /// A device that may post.
    package struct Sender: Sendable {
        var token: Secret
        var presence: DevicePresence
        package let documents = DocumentQueue()
        /// `nil` while the gateway waits for its documents or takes them.
        var forgottenAt: Duration?

        /// Hands a document over to the driver.
        package func add(_ document: Document) {
            _ = documents.add(document)
            presence.sawDevice()
        }
    }

    private struct State {
        var senders: [DeviceID: Sender] = [:]
        /// Why the listener is not open. Before its first try nobody is told that it is not.
        var failure: String?
        /// Fulfilled when it breaks.
        var broken = Promise<LinkError>()
    }
    private let state = Mutex(State())
    /// The token for the comparison with that of an unknown device, so that its refusal takes as long.
    private static let nobody = Secret("no token is this long, and this one is nobody's")

    package init() {}

    // MARK: - Devices

    /// Waits for a document of the device, and runs `body` with the link to its documents. It may post from now on.
    /// - Parameter work: as for `DocumentQueue.withSession`.
    /// - Throws: what `body` throws; a `LinkError` if the listener cannot be opened (`unreachable`) or breaks (`broken`).
    package func withDocuments(
        of device: DeviceID, token: Secret, presence: DevicePresence, clock: GatewayClock,
        work: (@Sendable () async -> Void)? = nil,
        _ body: @escaping @Sendable (any DocumentLink) async throws -> Void
    ) async throws {
        let documents = expect(device, token: token, presence: presence)
        defer { forget(device, at: clock.uptime) }
        let broken = try listening()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await documents.withSession(clock: clock, work: work, body) }
            group.addTask { throw try await broken.wait() }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    // Their locks must not be inlined where a wait lies between them: Decision 165.
    /// Lets a device post.
    @inline(never)
    package func expect(_ device: DeviceID, token: Secret, presence: DevicePresence) -> DocumentQueue {
        let documents = state.withLock { state in
            var sender = state.senders[device] ?? Sender(token: token, presence: presence)
            (sender.token, sender.presence, sender.forgottenAt) = (token, presence, nil)
            state.senders[device] = sender
            return sender.documents
        }
        // Its token is worth nothing from then on.
        presence.whenEnded { [weak self, weak presence] in
            if let presence { self?.remove(device, presence) }
        }
        return documents
    }

    /// Forgets a device some time after this, unless it is expected again.
    @inline(never)
    package func forget(_ device: DeviceID, at uptime: Duration) {
        state.withLock { $0.senders[device]?.forgottenAt = uptime + Self.memory }
    }

    @inline(never)
    private func listening() throws(LinkError) -> Promise<LinkError> {
        let (failure, broken) = state.withLock { ($0.failure, $0.broken) }
        if let failure { throw LinkError(.unreachable, failure) }
        return broken
    }

    /// Forgets a device at once, unless it is expected for another configuration, and answers what waits for its driver.
    private func remove(_ device: DeviceID, _ presence: DevicePresence) {
        let removed = state.withLock { state -> Sender? in
            guard state.senders[device]?.presence === presence else { return nil }
            return state.senders.removeValue(forKey: device)
        }
        removed?.documents.end("The gateway no longer takes documents of this device.")
    }

    // MARK: - The listener

    /// The device of this name, if it has this token.
    package func sender(_ name: String, token: String, uptime: Duration) -> Sender? {
        let device = DeviceID(name)
        let sender = state.withLock { state in
            state.senders = state.senders.filter { $0.value.forgottenAt.map { uptime < $0 } ?? true }
            return device.flatMap { state.senders[$0] }
        }
        let isRight = (sender?.token ?? Self.nobody).matches(token.utf8)
        return isRight ? sender : nil
    }

    /// The listener is open. Devices that waited for it in vain try again at once.
    package func opened() {
        let waiting = state.withLock { state -> [DevicePresence] in
            guard state.failure != nil else { return [] }
            state.failure = nil
            state.broken = Promise()
            return state.senders.values.map(\.presence)
        }
        for presence in waiting { presence.sawDevice() }
    }

    /// The listener cannot be opened, or has broken: the links of all devices end, and say why.
    package func failed(_ reason: String) {
        let broken = state.withLock { state in
            state.failure = reason
            return state.broken
        }
        broken.fulfil(LinkError(.broken, reason))
    }
}
