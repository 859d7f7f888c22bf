import Concurrency
import GatewayKit
import Vitals

extension Radio {
    /// Runs `body` with a link to a device.
    /// - Throws: what `body` throws; a `LinkError` if there is no link, and with `ended` if the gateway left the device on purpose.
    nonisolated func withLink(
        _ id: DeviceID, _ target: DeviceTarget, presence: DevicePresence,
        passkeys: PasskeyRequests = PasskeyRequests(),
        _ body: @escaping @Sendable (BlueZLink) async throws -> Void
    ) async throws {
        let path = try await reach(id, target, presence: presence)
        let place: Adapter.Place
        do { place = try await takeTurn(id.text, of: path) } catch {
            await leave(id)
            throw error
        }
        let link: BlueZLink
        do { link = try await open(path, id, target, at: place, passkeys) } catch {
            await release(id.text, at: place)
            await leave(id)
            throw error
        }
        let result = await use(link, body)
        let isLeft = link.link.isLeft
        await close(link.link)
        await release(id.text, at: place)
        await endConnection(id, target, isLeft ? .success(()) : result)
        if isLeft { throw LinkError(.ended, "The gateway has left the device, and comes back.") }
        try result.get()
    }

    /// A link is over. The next periodic connection has its time; one that broke is made again as soon as the device
    /// advertises, but not without end.
    private func endConnection(_ id: DeviceID, _ target: DeviceTarget, _ result: Result<Void, any Error>) {
        guard case .periodic(let every, _, _) = target.mode else { return leave(id) }
        switch result {
        case .success: expected[id]?.brokenConnections = 0
        // The gateway stops, or a new connection was requested.
        case .failure where Task.isCancelled: return leave(id)
        case .failure:
            let count = (expected[id]?.brokenConnections ?? 0) + 1
            expected[id]?.brokenConnections = count % BluetoothTarget.mostBrokenConnections
            if count < BluetoothTarget.mostBrokenConnections { return leave(id) }
        }
        leave(id, dueAt: clock.uptime + every)
    }

    private nonisolated func use(
        _ link: BlueZLink, _ body: @escaping @Sendable (BlueZLink) async throws -> Void
    ) async -> Result<Void, any Error> {
        await withTaskGroup(of: Result<Void, any Error>?.self) { group in
            group.addTask {
                do { return .success(try await body(link)) } catch { return .failure(error) }
            }
            if case .periodic(_, let idle, let longest) = link.link.device.mode {
                group.addTask {
                    await self.watchPeriodic(link.link, idle: idle, longest: longest)
                    return nil
                }
            }
            defer { group.cancelAll() }
            for await case let result? in group { return result }
            return .success(())
        }
    }
}
