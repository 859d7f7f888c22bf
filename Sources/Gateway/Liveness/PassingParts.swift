package import Concurrency
import Synchronization
package import Vitals

/// The parts that come and go, with the ways to ask them: services of plugins while they are open, transports while a device has or
/// tries a link, and what has to end until it has ended.
package final class PassingParts: Sendable {
    private struct State {
        var open: [LivenessPart: (probe: LivenessProbe, users: Int)] = [:]
        var ending: [LivenessPart: [Promise<Void>]] = [:]
    }
    private let state = Mutex(State())

    package init() {}

    /// The present parts, each once. The watch asks a part that has to end only for its end.
    package var probes: [LivenessProbe] {
        state.withLock { state in
            for (part, ends) in state.ending where ends.allSatisfy({ $0.value != nil }) { state.ending[part] = nil }
            return state.open.values.map(\.probe).filter { state.ending[$0.part] == nil }
                + state.ending.map { LivenessProbe($0.key, ends: $0.value) }
        }
    }

    /// Has a part asked until `body` ends. Several may use one part: it is asked until the last of them has ended.
    package func during(_ probe: LivenessProbe, _ body: () async throws -> Void) async rethrows {
        begin(probe)
        defer { end(probe.part) }
        try await body()
    }

    // Their locks must not be inlined where a wait lies between them: Decision 165.
    @inline(never)
    private func begin(_ probe: LivenessProbe) {
        state.withLock { $0.open[probe.part] = (probe, ($0.open[probe.part]?.users ?? 0) + 1) }
    }

    @inline(never)
    private func end(_ part: LivenessPart) {
        state.withLock { state in
            guard let open = state.open[part] else { return }
            state.open[part] = open.users > 1 ? (open.probe, open.users - 1) : nil
        }
    }

    /// Expects that a part ends, which fulfils `end`.
    package func expect(_ part: LivenessPart, toFulfil end: Promise<Void>) {
        state.withLock { state in
            state.ending[part, default: []].removeAll { $0.value != nil }
            state.ending[part, default: []].append(end)
        }
    }
}
