import Contract
import Engines
import GatewayKit
import Logging
import Synchronization
package import Vitals

/// Why a changed configuration is not applied. Nothing has changed then.
package struct ReloadRefusal: Error, CustomStringConvertible {
    /// What is wrong, in a sentence or two.
    package let description: String
    /// Each mistake, with its place in the configuration.
    package let violations: [Violation]

    package init(_ description: String, violations: [Violation]) {
        self.description = description
        self.violations = violations
    }
}

extension GatewayCore {
    /// Applies a changed configuration, touching only the devices that changed. One reload waits for the one before, and the
    /// first one for `run` to have begun.
    /// - Throws: what `reload` throws, and then nothing has changed. It is logged, and stands in `gateway/state` until a
    ///   reload succeeds. `CancellationError` when the task is cancelled before `run` has begun.
    @discardableResult
    package func applyReload() async throws -> [String: [String]] {
        try await hasBegun.wait()
        return try await reloading.alone {
            do {
                let change = try await serveChanged()
                refusedReload.withLock { $0 = nil }
                return change
            } catch {
                settings.logger.error("The configuration stays as it was.", metadata: ["error": "\(error)"])
                refusedReload.withLock { $0 = "A changed configuration is not applied. \(error)" }
                throw error
            }
        }
    }

    private func serveChanged() async throws -> [String: [String]] {
        let setups = try await reload()
        try await forget(returning: setups.map(\.info.id))
        // A device that comes back must not find its topics emptied once more.
        let topics = setups.flatMap { wire.removal(of: $0.info.id).map(\.topic) }
        discovery.spare(topics)
        board.forget(topics: topics)
        let change = await fleet.apply(setups)
        for device in change.removed { await forget(device) }
        await publishInfo()
        return [
            "added": change.added.map(\.text), "changed": change.changed.map(\.text),
            "removed": change.removed.map(\.text),
        ]
    }
}
