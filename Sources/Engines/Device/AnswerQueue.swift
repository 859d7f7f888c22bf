import Concurrency
import Vitals

/// Answers on their way out, in order; there are never more than commands. A task of the agent writes them, because the
/// task that produces an answer may be cancelled meanwhile when the session ends.
struct AnswerQueue: Sendable {
    private let queue: WorkQueue<(key: String, answer: Answer)>
    private let output: @Sendable (_ key: String, Answer) async -> Void

    init(launcher: TaskLauncher, _ output: @escaping @Sendable (_ key: String, Answer) async -> Void) {
        self.output = output
        queue = WorkQueue(launcher: launcher)
    }

    /// Answers a command, with `accepted` or finally. Returns at once, unless the agent has ended.
    func send(_ key: String, _ answer: Answer) async {
        _ = await queue.add((key, answer)) { [output] in await output($0.key, $0.answer) }
    }
}
