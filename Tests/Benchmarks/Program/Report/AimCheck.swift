/// Decides whether aims are missed, for a run that has to fail then.
///
/// A machine that does something else for a moment is no error of the gateway, so a part whose speed or size misses an aim is measured
/// again: one of the attempts has to meet it. A lost sample is no noise: an aim of nothing at all must be met by each of them.
struct AimCheck: Sendable {
    /// How often a part is measured at most.
    static let attempts = 3

    /// The newest figure of each aim that no attempt has met, or that one must not have missed, by key.
    private var open: [String: Figure] = [:]
    private var met: Set<String> = []
    private(set) var attempts = 0

    /// Takes the figures of an attempt.
    mutating func check(_ figures: [Figure]) {
        attempts += 1
        for figure in figures {
            guard let isMet = figure.isMet else { continue }
            if isMet {
                met.insert(figure.key)
                if !figure.isExact { open[figure.key] = nil }
            } else if figure.isExact || !met.contains(figure.key) {
                open[figure.key] = figure
            }
        }
    }

    /// Whether another attempt could change the result.
    var wantsAnother: Bool {
        attempts < Self.attempts && !open.isEmpty && !open.values.contains { $0.isExact }
    }

    /// The figures that miss their aims, by key.
    var missed: [Figure] { open.values.sorted { $0.key < $1.key } }
}

extension Figure {
    /// Whether its aim is nothing at all, which does not depend on the machine.
    fileprivate var isExact: Bool { if case .atMost(0)? = aim { true } else { false } }
}
