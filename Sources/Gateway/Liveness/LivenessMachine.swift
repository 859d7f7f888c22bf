package import Vitals

/// Records which parts were asked and have answered, and decides which are late. A pure value: every time is a
/// parameter, from a steady clock that stops while the machine is suspended.
package struct LivenessMachine: Sendable {
    /// The time between two questions to a part.
    static let interval: Duration = .seconds(2)
    /// If the checks themselves pause this long, the process was stopped or starved: no part is to blame, and each gets
    /// its limit again.
    static let pause: Duration = .seconds(5)
    /// An answer that took longer is slow. A part that works answers within milliseconds.
    static let slowness: Duration = .seconds(1)

    /// A question to a part. Its number distinguishes it from earlier ones, whose answers may still come.
    package struct Question: Sendable, Hashable {
        package let part: LivenessPart
        package let number: Int
    }

    /// What a check found.
    package struct Check: Sendable, Hashable {
        /// The parts to ask now.
        package var asked: [Question] = []
        /// The parts that have become late, with the time for which they have not answered.
        package var fallen: [LivenessPart: Duration] = [:]
        /// The parts that were late and have answered, or are gone.
        package var recovered: [LivenessPart] = []
    }

    private struct Open {
        let number: Int
        var since: Duration
    }

    private let permanent: [LivenessPart: Duration]
    /// The questions that have no answer yet.
    private var open: [LivenessPart: Open] = [:]
    private var count = 0
    private var lastAsked: [LivenessPart: Duration] = [:]
    /// When the last slow answer of a part came.
    private var lastSlowAnswer: [LivenessPart: Duration] = [:]
    private var known: Set<LivenessPart> = []
    private var lateParts: Set<LivenessPart> = []
    private var lastCheck: Duration?

    /// A board for parts with these limits, which are always there.
    package init(limits: [LivenessPart: Duration]) { permanent = limits }

    /// The late parts, by name.
    package var late: [LivenessPart] { lateParts.sorted() }

    /// Whether every part that is always there has answered at least once.
    package var isComplete: Bool { known.count == permanent.count }

    /// The parts that have answered slowly since `start`, and those whose answer is slow now, by name.
    package func slow(since start: Duration, at now: Duration) -> [LivenessPart] {
        let waiting = open.filter { now - $0.value.since >= Self.slowness }.keys
        let answered = lastSlowAnswer.filter { $0.value >= start }.keys
        return Set(waiting).union(answered).sorted()
    }

    /// The parts whose answer is awaited for longer than this, by name; `nil` if the checks themselves do not come.
    package func waiting(longerThan time: Duration, at now: Duration) -> [LivenessPart]? {
        if let lastCheck, now - lastCheck > time { return nil }
        return open.filter { now - $0.value.since > time }.keys.sorted()
    }

    /// Notes an answer.
    package mutating func answered(_ question: Question, at now: Duration) {
        guard let asked = open[question.part], asked.number == question.number else { return }
        if now - asked.since >= Self.slowness { lastSlowAnswer[question.part] = now }
        open[question.part] = nil
        if permanent[question.part] != nil { known.insert(question.part) }
    }

    /// Checks all parts: those that are always there, and these, which come and go.
    package mutating func check(at now: Duration, passing: [LivenessPart: Duration] = [:]) -> Check {
        if let lastCheck, now - lastCheck > Self.pause {
            for part in open.keys { open[part]?.since = now }
        }
        lastCheck = now
        var check = Check()
        let limits = permanent.merging(passing) { permanent, _ in permanent }
        for part in lastAsked.keys where limits[part] == nil {
            open[part] = nil
            lastAsked[part] = nil
            lastSlowAnswer[part] = nil
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
