import Concurrency
import GatewayKit
import Vitals

extension Radio {
    /// Runs `body` with a link to a device.
    /// - Throws: what `body` throws; a `LinkError` if there is no link, and with `ended` if the gateway left the device on purpose.
    nonisolated func withLink(
        _ id: DeviceID, _ target: DeviceTarget, presence: DevicePresence,
        passkeys: PasskeyDesk = PasskeyDesk(),
        _ body: @escaping @Sendable (BlueZLink) async throws -> Void
    ) async throws {
        let path = try await reach(id, target, presence: presence)
        let place: Adapter.Place
        do { place = try await takeTurn(id.text, of: path) } catch {
            await leave(id)
            throw error
        }
        do {
            let link = try await open(path, id, target, at: place, passkeys)
            let result = await use(link, body)
            let isLeft = link.link.isLeft || (target.isVisit && link.link.ended.value != nil)
            await close(link.link)
            await release(id.text, at: place)
            await leave(id, dueAt: target.visitDue(after: clock.uptime))
            if isLeft { throw LinkError(.ended, "The gateway has left the device, and comes back.") }
            try result.get()
        } catch let error as LinkError {
            await release(id.text, at: place)
            if error.code != .ended { await leave(id) }
            throw error
        }
    }

    private nonisolated func use(
        _ link: BlueZLink, _ body: @escaping @Sendable (BlueZLink) async throws -> Void
    ) async -> Result<Void, any Error> {
        await withTaskGroup(of: Result<Void, any Error>?.self) { group in
            group.addTask {
                do { return .success(try await body(link)) } catch { return .failure(error) }
            }
            if case .visit(_, let idle, let longest) = link.link.device.duty {
                group.addTask {
                    await self.watchVisit(link.link, idle: idle, longest: longest)
                    return nil
                }
            }
            defer { group.cancelAll() }
            for await case let result? in group { return result }
            return .success(())
        }
    }
}

extension DeviceTarget {
    var isVisit: Bool { if case .visit = duty { true } else { false } }

    /// When the next link is due after one that has ended.
    func visitDue(after end: Duration) -> Duration {
        if case .visit(let every, _, _) = duty { end + every } else { .zero }
    }
}
