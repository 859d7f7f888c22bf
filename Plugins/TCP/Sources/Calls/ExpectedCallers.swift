import Concurrency
import GatewayKit
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
        /// Fulfilled when the gateway takes it, or another call replaces it.
        let settled = Promise<Void>()

        init(_ link: TCPLink) { self.link = link }
    }

    private struct Entry {
        var token: Secret
        var presence: DevicePresence
        /// Wakes the gateway's attempt.
        let arrival = Signal()
        var waiting: Call?
        /// The link of the open session.
        var current: TCPLink?
        /// `nil` while the gateway tries to connect the device or has connected it.
        var forgottenAt: Duration?
    }
    private let entries = Mutex<[DeviceID: Entry]>([:])
    /// What an unknown device's token is compared with, so that its refusal takes as long.
    private static let nobody = Secret("no token is this long, and this one is nobody's")

    /// Lets a device call.
    @discardableResult
    func expect(_ device: DeviceID, token: Secret, presence: DevicePresence) -> Signal {
        entries.withLock { entries in
            var entry = entries[device] ?? Entry(token: token, presence: presence)
            (entry.token, entry.presence, entry.forgottenAt) = (token, presence, nil)
            entries[device] = entry
            return entry.arrival
        }
    }

    /// Waits for the device's call, and runs `body` with its link.
    func withCall(
        of device: DeviceID, token: Secret, presence: DevicePresence, uptime: @Sendable () -> Duration,
        _ body: (TCPLink) async throws -> Void
    ) async throws {
        let arrival = expect(device, token: token, presence: presence)
        defer {
            entries.withLock { entries in
                entries[device]?.current = nil
                entries[device]?.forgottenAt = uptime() + Self.memory
            }
        }
        let link = try await next(from: device, arrival)
        do {
            try await body(link)
        } catch {
            await link.close()
            throw error
        }
        await link.close()
    }

    private func next(from device: DeviceID, _ arrival: Signal) async throws -> TCPLink {
        while true {
            let call = entries.withLock { entries -> Call? in
                guard let call = entries[device]?.waiting else { return nil }
                entries[device]?.waiting = nil
                entries[device]?.current = call.link
                return call
            }
            if let call {
                call.settled.fulfil(())
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
        let (old, entry) = entries.withLock { entries -> ([TCPLink], Entry?) in
            guard let entry = entries[device] else { return ([call.link], nil) }
            entry.waiting?.settled.fulfil(())
            entries[device]?.waiting = call
            return ([entry.waiting?.link, entry.current].compactMap(\.self), entry)
        }
        for link in old { await link.close() }
        entry?.arrival.wake()
        entry?.presence.notice()
    }

    /// Gives up a call that the gateway did not take.
    func remove(_ call: Call, of device: DeviceID) async {
        let isRemoved = entries.withLock { entries -> Bool in
            guard entries[device]?.waiting === call else { return false }
            entries[device]?.waiting = nil
            return true
        }
        if isRemoved { await call.link.close() }
    }
}
