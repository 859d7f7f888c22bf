import Concurrency
import Contract
import Delivery
import Engines
import GatewayKit
import Logging
import MQTT
import Synchronization
package import Vitals

/// Why a changed configuration is not applied. In this case nothing has changed.
package struct ReloadRefusal: Error, CustomStringConvertible {
    /// The reason, in a sentence or two.
    package let description: String
    /// Each error, with its place in the configuration.
    package let violations: [Violation]

    package init(_ description: String, violations: [Violation]) {
        self.description = description
        self.violations = violations
    }
}

extension GatewayCore {
    /// Applies a changed configuration to the devices that changed. A reload waits for the previous one, and the first
    /// reload waits until `run` has begun. A change is applied as a whole or not at all, so that one file describes the running
    /// gateway.
    /// - Throws: the errors of `reload`; then nothing has changed. The error is logged, and is in `gateway/state` until
    ///   a reload succeeds. `CancellationError` if the task is cancelled before `run` has begun.
    @discardableResult
    package func applyReload() async throws -> [String: [String]] {
        try await hasBegun.wait()
        return try await reloading.withCancellableLock {
            do {
                let change = try await serveChanged()
                refusedReload.withLock { $0 = nil }
                logApplied(change)
                return change
            } catch {
                settings.logger.error("The configuration stays as it was.", metadata: ["error": "\(error)"])
                refusedReload.withLock { $0 = "A changed configuration is not applied. \(error)" }
                throw error
            }
        }
    }

    private func logApplied(_ change: [String: [String]]) {
        let named = change.filter { !$0.value.isEmpty }
        guard !named.isEmpty else {
            return settings.logger.info("The configuration is applied. No device has changed.")
        }
        settings.logger.info("The configuration is applied.", metadata: named.mapValues { .string(Self.list($0)) })
    }

    /// How many names a line of the log has: of devices, or of parts that hold up a stop.
    static let listedNames = 10

    /// Names for a line of the log: the first ones, and how many there are more.
    static func list(_ names: [String]) -> String {
        let more = names.count - listedNames
        return names.prefix(listedNames).joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
    }

    private func readSetups() async throws -> [DeviceSetup] {
        reading.begin()
        defer { reading.end() }
        return try await settings.running.during("configuration") { try await reload() }
    }

    private func serveChanged() async throws -> [String: [String]] {
        let setups = try await readSetups()
        noteSilences(of: setups)
        let returning = try await forget(returning: setups.map(\.info.id))
        // The topics of a device that comes back must not be emptied again.
        let topics = setups.flatMap { codec.removal(of: $0.info.id).map(\.topic) }
        discovery.spare(topics)
        retained.forget(topics: topics)
        for device in returning { emptyTopics(of: device) }
        let change = await supervisor.apply(
            setups, onRemoved: { await self.forgetLate($0) }, onReturned: { await self.forgetReturned($0) })
        for device in change.removed where !change.overdue.contains(device) { await forget(device) }
        await publishInfo()
        return [
            "added": change.added.map(\.text), "changed": change.changed.map(\.text),
            "removed": change.removed.map(\.text),
        ]
    }
}
