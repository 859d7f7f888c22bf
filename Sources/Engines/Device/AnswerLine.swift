import Vitals

/// Answers on their way out, in order; there are never more than commands. A separate task writes them, because the
/// task that produces an answer may be cancelled meanwhile when the session ends.
struct AnswerLine: Sendable {
    private let answers: AsyncStream<(key: String, answer: Answer)>
    private let source: AsyncStream<(key: String, answer: Answer)>.Continuation
    private let output: @Sendable (_ key: String, Answer) async -> Void

    init(_ output: @escaping @Sendable (_ key: String, Answer) async -> Void) {
        self.output = output
        (answers, source) = AsyncStream.makeStream()
    }

    /// Answers a command, with `accepted` or finally. Returns at once, unless the writing task was cancelled.
    func give(_ key: String, _ answer: Answer) async {
        if case .terminated = source.yield((key, answer)) { await output(key, answer) }
    }

    /// Writes answers as they come, until `finish` was called and all are written.
    func run() async {
        for await (key, answer) in answers { await output(key, answer) }
    }

    func finish() { source.finish() }
}
