package import Vitals

/// Records which parts were asked and have answered, and decides which are late. A pure value: every time is a
/// parameter, from a steady clock that stops while the machine is suspended.
package struct HealthCheckMachine: Sendable {
    /// The time between two questions to a part.
    static let interval: Duration = .seconds(2)
    /// If the checks themselves pause this long, the process was stopped or starved: no part is to blame, and each gets
    /// its limit again.
    static let pause: Duration = .seconds(5)

    /// A question to a part. Its number tells it from earlier ones, whose answers may still come.
    package struct Question: Sendable, Hashable {
        package let part: HealthPart
        package let number: Int
    }

    /// What a check found.
    package struct Check: Sendable, Hashable {
        /// The parts to ask now.
        package var asked: [Question] = []
        /// The parts that have become late, with the time for which they have not answered.
        package var fallen: [HealthPart: Duration] = [:]
        /// The parts that were late and have answered, or are gone.
        package var recovered: [HealthPart] = []
    }

    private struct Open {
        let number: Int
        var since: Duration
    }

    private let permanent: [HealthPart: Duration]
    /// The questions that have no answer yet.
    private var open: [HealthPart: Open] = [:]
    private var count = 0
    private var lastAsked: [HealthPart: Duration] = [:]
    private var known: Set<HealthPart> = []
    private var lateParts: Set<HealthPart> = []
    private var lastCheck: Duration?

    /// A board for parts with these limits, which are always there.
    package init(limits: [HealthPart: Duration]) { permanent = limits }

    /// The late parts, by name.
    package var late: [HealthPart] { lateParts.sorted() }

    /// Whether every part that is always there has answered at least once.
    package var isComplete: Bool { known.count == permanent.count }

    /// The parts that have not answered for this long, by name.
    package func silent(for duration: Duration, at now: Duration) -> [HealthPart] {
        open.filter { now - $0.value.since >= duration }.keys.sorted()
    }

    /// Notes an answer.
    package mutating func answered(_ question: Question) {
        guard open[question.part]?.number == question.number else { return }
        open[question.part] = nil
        if permanent[question.part] != nil { known.insert(question.part) }
    }

    /// Checks all parts: those that are always there, and these, which come and go.
    package mutating func check(at now: Duration, passing: [HealthPart: Duration] = [:]) -> Check {
        if let lastCheck, now - lastCheck > Self.pause {
            for part in open.keys { open[part]?.since = now }
        }
        lastCheck = now
        var check = Check()
        let limits = permanent.merging(passing) { permanent, _ in permanent }
        for part in lastAsked.keys where limits[part] == nil {
            open[part] = nil
            lastAsked[part] = nil
            if lateParts.remove(part) != nil { check.recovered.append(part) }
        }
        for (part, limit) in limits {
            if let question = open[part] {
                let time = now - question.since
                if time > limit, lateParts.insert(part).inserted { check.fallen[part] = time }
            } else {
                if lateParts.remove(part) != nil { check.recovered.append(part) }
                guard lastAsked[part].map({ now - $0 >= Self.interval }) ?? true else { continue }
                count += 1
                open[part] = Open(number: count, since: now)
                lastAsked[part] = now
                check.asked.append(Question(part: part, number: count))
            }
        }
        return check
    }
}
