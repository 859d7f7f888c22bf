import Foundation
import JSON

/// A device that answers each call with what a test writes into its file.
struct AnswersDevice {
    let id: String
    private let bench: Bench
    private let capabilities: String
    private let configuration: String?

    /// - Parameters:
    ///   - capabilities: what it says of itself, as JSON.
    ///   - configuration: its monitoring, as JSON. It keeps what is written to it, and has the right time; without one it has neither.
    ///   - answers: what it answers, see `answer(_:)`.
    init(
        _ id: String, on bench: Bench, capabilities: String, configuration: String? = nil,
        answers: [String: String] = [:]
    ) throws {
        self.id = id
        self.bench = bench
        self.capabilities = capabilities
        self.configuration = configuration
        try answer(answers)
    }

    /// From now on it gives these answers: by method, with the metric behind it where there is one, JSON with `result` or
    /// `error`, and as `tell` what it says by itself after it. It does everything else that it is asked, with an empty answer.
    func answer(_ answers: [String: String]) throws {
        let text = answers.map { "\"\($0.key)\": \($0.value)" }.joined(separator: ",\n")
        try "{\(text)}".write(toFile: bench.path("\(id).answers"), atomically: true, encoding: .utf8)
    }

    /// The device of the configuration, run by the gateway.
    var entry: String {
        var command = [
            "python3", Repository.fixture("answers_device.py"), "--answers", bench.path("\(id).answers"), "--journal",
            bench.path("\(id).journal"), "--capabilities", capabilities,
        ]
        if let configuration { command += ["--configuration", configuration] }
        return "{id: \(id), name: \(id), driver: link, transport: "
            + "{type: exec, command: [\(command.map { "'\($0)'" }.joined(separator: ", "))]}}"
    }

    /// What it was asked so far.
    func journal() throws -> Journal { try Journal(bench.path("\(id).journal")) }

    /// A moment so many seconds ago, in the link's milliseconds.
    static func moment(secondsAgo seconds: Double) -> Int {
        Int((Date.now.timeIntervalSince1970 - seconds) * 1_000)
    }
}
