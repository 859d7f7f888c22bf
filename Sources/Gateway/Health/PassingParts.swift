package import Concurrency
import Synchronization
package import Vitals

/// The parts that come and go, with the ways to ask them: services of plugins while they are open, and what has to end until
/// it has ended.
package final class PassingParts: Sendable {
    private struct State {
        var open: [HealthPart: HealthProbe] = [:]
        var ending: [HealthPart: [Promise<Void>]] = [:]
    }
    private let state = Mutex(State())

    package init() {}

    /// The present parts, each once. The watch asks a part that has to end only for its end.
    package var probes: [HealthProbe] {
        state.withLock { state in
            for (part, ends) in state.ending where ends.allSatisfy({ $0.value != nil }) { state.ending[part] = nil }
            return state.open.values.filter { state.ending[$0.part] == nil }
                + state.ending.map { HealthProbe($0.key, ends: $0.value) }
        }
    }

    /// Has a part asked until `body` ends.
    package func during(_ probe: HealthProbe, _ body: () async throws -> Void) async rethrows {
        state.withLock { $0.open[probe.part] = probe }
        defer { state.withLock { $0.open[probe.part] = nil } }
        try await body()
    }

    /// Expects that a part ends, which fulfils `end`.
    package func expect(_ part: HealthPart, toFulfil end: Promise<Void>) {
        state.withLock { state in
            state.ending[part, default: []].removeAll { $0.value != nil }
            state.ending[part, default: []].append(end)
        }
    }
}
