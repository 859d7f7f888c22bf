package import Vitals

/// Keeps which parts were asked and have answered, and decides which are late. A pure value: every time is a
/// parameter, from a steady clock that stands still while the machine is suspended.
package struct HealthBoard: Sendable {
    /// The time between two questions to a part.
    static let interval: Duration = .seconds(2)
    /// If the checks themselves pause this long, the process was stopped or starved: no part is to blame, and each gets
    /// its limit again.
    static let pause: Duration = .seconds(5)

    /// What a check found.
    package struct Check: Sendable, Hashable {
        /// The parts to ask now.
        package var asked: [HealthPart] = []
        /// The parts that have become late, with the time for which they have not answered.
        package var fallen: [HealthPart: Duration] = [:]
        /// The parts that were late and have answered.
        package var recovered: [HealthPart] = []
    }

    private let limits: [HealthPart: Duration]
    /// When each question was asked that has no answer yet.
    private var open: [HealthPart: Duration] = [:]
    private var lastAsked: [HealthPart: Duration] = [:]
    private var known: Set<HealthPart> = []
    private var lateParts: Set<HealthPart> = []
    private var lastCheck: Duration?

    /// A board for parts with these limits.
    package init(limits: [HealthPart: Duration]) { self.limits = limits }

    /// The late parts, in the order of `HealthPart`.
    package var late: [HealthPart] { HealthPart.allCases.filter(lateParts.contains) }

    /// Whether every part has answered at least once.
    package var isComplete: Bool { known.count == limits.count }

    /// The parts that have not answered for this long.
    package func silent(for duration: Duration, at now: Duration) -> [HealthPart] {
        HealthPart.allCases.filter { part in open[part].map { now - $0 >= duration } ?? false }
    }

    /// Notes an answer.
    package mutating func answered(_ part: HealthPart) {
        open[part] = nil
        known.insert(part)
    }

    /// Checks all parts.
    package mutating func check(at now: Duration) -> Check {
        if let lastCheck, now - lastCheck > Self.pause { open = open.mapValues { _ in now } }
        lastCheck = now
        var check = Check()
        for (part, limit) in limits {
            if let asked = open[part] {
                if now - asked > limit, lateParts.insert(part).inserted { check.fallen[part] = now - asked }
            } else {
                if lateParts.remove(part) != nil { check.recovered.append(part) }
                guard lastAsked[part].map({ now - $0 >= Self.interval }) ?? true else { continue }
                open[part] = now
                lastAsked[part] = now
                check.asked.append(part)
            }
        }
        return check
    }
}
