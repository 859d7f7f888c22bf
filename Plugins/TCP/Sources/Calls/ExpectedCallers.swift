import Concurrency
import GatewayKit
import Listening
import Synchronization
import Vitals

/// The devices that may call, and the calls that wait until the gateway takes them.
final class ExpectedCallers: Sendable {
    /// How long a device may still call after the gateway's last attempt to connect it: longer than the longest wait between two
    /// attempts (5 minutes).
    static let memory: Duration = .minutes(10)

    /// A device that has introduced itself.
    final class Call: Sendable {
        let link: TCPLink
        let token: String
        /// Whether the gateway has taken it; `false` if another call or another token has ended it.
        let settled = Promise<Bool>()

        init(_ link: TCPLink, token: String) {
            self.link = link
            self.token = token
        }
    }

    private struct Entry {
        var token: Secret
        var presence: DevicePresence
        /// Wakes the gateway's attempt.
        let arrival = Signal()
        var waiting: Call?
        /// The call of the open session.
        var current: Call?
        /// `nil` while the gateway tries to connect the device or has connected it.
        var forgottenAt: Duration?
    }
    private let entries = Mutex<[DeviceID: Entry]>([:])
    private let logins: LoginRateLimiter
    /// The token for the comparison with that of an unknown device, so that its refusal takes as long.
    private static let nobody = Secret("no token is this long, and this one is nobody's")

    /// - Parameter logins: forgets the failures of a device that may call from now on.
    init(_ logins: LoginRateLimiter) { self.logins = logins }

    /// Lets a device call.
    @discardableResult
    func expect(_ device: DeviceID, token: Secret, presence: DevicePresence) -> Signal {
        let (isNew, arrival, revoked) = entries.withLock { entries -> (Bool, Signal, Call?) in
            let isNew = entries[device] == nil
            var entry = entries[device] ?? Entry(token: token, presence: presence)
            (entry.token, entry.presence, entry.forgottenAt) = (token, presence, nil)
            // It came with the token of an earlier configuration.
            let revoked = entry.waiting.flatMap { token.matches($0.token.utf8) ? nil : $0 }
            if revoked != nil { entry.waiting = nil }
            entries[device] = entry
            return (isNew, entry.arrival, revoked)
        }
        if isNew { logins.forget(device.text) }
        revoked?.settled.fulfil(false)
        // Its token is worth nothing from then on.
        presence.whenEnded { [weak self, weak presence] in
            if let presence { self?.remove(device, presence) }
        }
        return arrival
    }

    /// Forgets a device at once, unless it is expected for another configuration.
    private func remove(_ device: DeviceID, _ presence: DevicePresence) {
        let waiting = entries.withLock { entries -> Call? in
            guard entries[device]?.presence === presence else { return nil }
            return entries.removeValue(forKey: device)?.waiting
        }
        waiting?.settled.fulfil(false)
    }

    /// Waits for the device's call, and runs `body` with its link.
    func withCall(
        of device: DeviceID, token: Secret, presence: DevicePresence, uptime: @Sendable () -> Duration,
        _ body: (TCPLink) async throws -> Void
    ) async throws {
        let arrival = expect(device, token: token, presence: presence)
        defer {
            let forgottenAt = uptime() + Self.memory
            entries.withLock { entries in
                entries[device]?.current = nil
                entries[device]?.forgottenAt = forgottenAt
            }
        }
        try await next(from: device, arrival).use(body)
    }

    private func next(from device: DeviceID, _ arrival: Signal) async throws -> TCPLink {
        while true {
            let call = entries.withLock { entries -> Call? in
                guard let call = entries[device]?.waiting else { return nil }
                entries[device]?.waiting = nil
                entries[device]?.current = call
                return call
            }
            if let call {
                call.settled.fulfil(true)
                return call.link
            }
            if Task.isCancelled { throw LinkError(.cancelled, "The gateway no longer waits for a call of \(device).") }
            await arrival.wait()
        }
    }

    /// The device of an introduction with the right token, if the gateway knows it at this moment.
    func device(of introduction: Introduction, uptime: Duration) -> DeviceID? {
        let device = DeviceID(introduction.device)
        let token = entries.withLock { entries -> Secret? in
            entries = entries.filter { $0.value.forgottenAt.map { uptime < $0 } ?? true }
            return device.flatMap { entries[$0]?.token }
        }
        let isRight = (token ?? Self.nobody).matches(introduction.token.utf8)
        return token != nil && isRight ? device : nil
    }

    /// Lets a call wait for the gateway. It takes the place of an earlier call and of the open session: the device knows best
    /// whether its old connection is dead.
    func add(_ call: Call, of device: DeviceID) async {
        let (earlier, entry) = entries.withLock { entries -> (Call?, Entry?) in
            guard let entry = entries[device], entry.token.matches(call.token.utf8) else { return (call, nil) }
            entries[device]?.waiting = call
            return (entry.waiting, entry)
        }
        earlier?.settled.fulfil(false)
        entry?.arrival.wake()
        entry?.presence.sawDevice()
        await entry?.current?.link.close()
    }

    /// Gives up a call. Returns whether the gateway has not taken it, so that it has to be closed.
    func remove(_ call: Call, of device: DeviceID) -> Bool {
        entries.withLock { entries in
            if entries[device]?.waiting === call { entries[device]?.waiting = nil }
            return entries[device]?.current !== call
        }
    }
}
