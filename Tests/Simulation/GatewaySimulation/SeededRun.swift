import GatewayTesting
import MQTT
import Synchronization
import TestSupport
package import Vitals

/// The run of a whole gateway in a random environment, decided by a seed.
package struct SeededRun: Sendable, Hashable {
    /// A hash of all scheduling choices: equal for two runs of one seed.
    package var fingerprint: UInt64
    /// What was lost, invented, out of order or unanswered; empty if all is well.
    package var issues: [String]
    /// The number of messages that the broker accepted.
    package var messages: Int
    /// The number of crashes and stops.
    package var restarts: Int
    /// When `gateway/state` was published.
    package var reports: [Duration]

    /// Some minutes before midnight in UTC, Berlin, New York and Kathmandu, and before both clock changes in Berlin.
    private static let starts = [
        "2026-01-01T00:00:00Z", "2026-01-31T22:52:00Z", "2026-02-28T04:52:00Z", "2026-07-01T18:07:00Z",
        "2026-03-29T00:52:00Z", "2026-10-25T00:52:00Z",
    ].compactMap { Timestamp(rfc3339: $0) }

    /// The simulated date at which the run of a seed starts.
    package static func start(of seed: UInt64) -> Timestamp { starts[Int(seed % UInt64(starts.count))] }

    /// Runs a seed with its usual faults: in every fourth one the gateway changes its time zone at each start.
    /// - Parameter account: gets the account of the run, even if it does not end.
    /// - Throws: a `SimulationError` that says why the run does not end.
    package static func run(
        seed: UInt64, account: (@Sendable ([Trace.Line]) -> Void)? = nil
    ) throws -> SeededRun {
        var plan = Environment.Plan()
        plan.zoneChanges = seed % 4 == 3
        return try run(seed: seed, plan: plan, account: account)
    }

    /// Runs a seed with these faults.
    package static func run(
        seed: UInt64, plan: Environment.Plan, account: (@Sendable ([Trace.Line]) -> Void)? = nil
    ) throws -> SeededRun {
        let simulation = Simulation(seed: seed, start: start(of: seed))
        let trace = account.map { _ in Trace(of: simulation) }
        return try simulation.run(deadline: .hours(3)) { simulation in
            let environment = try Environment(simulation: simulation, plan: plan, trace: trace)
            defer {
                environment.stores.remove()
                if let account, let trace { account(trace.lines(with: environment.observation)) }
            }
            try await environment.run()
            let messages = environment.observation.messages
            let issues = Issues(
                messages, truth: environment.wearables,
                days: plan.zoneChanges ? nil : environment.calendar.withLock { $0 },
                clockSettings: environment.clockSettings.withLock { $0 },
                diskSettings: environment.diskSettings.withLock { $0 }, deliveries: environment.consumer.deliveries,
                received: environment.broker.received(by: "gateway"), ends: environment.ends.withLock { $0 },
                losses: StoreLosses(damages: environment.damages.withLock { $0 }, isFlooded: environment.flood != nil))
            let damage = try environment.stores.issues().map { "the store: \($0)" }
            return SeededRun(
                fingerprint: simulation.fingerprint, issues: issues.issues + damage, messages: messages.count,
                restarts: environment.restarts.withLock { $0 },
                reports: messages.filter { $0.message.topic.hasSuffix("gateway/state") }.map(\.uptime))
        }
    }
}
