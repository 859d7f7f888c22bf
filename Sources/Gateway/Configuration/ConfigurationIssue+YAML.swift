import GatewayKit
import Yams

extension ConfigurationIssue {
    /// Converts an error of Yams, with its line and a hint about common causes.
    init(_ error: any Error, in text: String) {
        switch error as? YamlError {
        case .scanner(let context, let problem, let mark, _):
            self.init(syntax: problem, context, mark, in: text)
        case .parser(let context, let problem, let mark, _):
            self.init(syntax: problem, context, mark, in: text)
        case .composer(_, let problem, let mark, _):
            let message =
                problem.contains("another document")
                ? "A second document begins here (---); the configuration is one document."
                : "The YAML cannot be read: \(problem)."
            self.init(line: mark.line, path: "", message: message)
        case .reader(let problem, let offset, _, _):
            let line = offset.map { text.prefix($0).count(where: \.isNewline) + 1 } ?? 0
            self.init(line: line, path: "", message: "The file is not plain text: \(problem).")
        case .duplicatedKeysInMapping(let keys, let context):
            let names = keys.sorted().joined(separator: ", ")
            self.init(
                line: context.mark.line, path: "",
                message: "The same key occurs twice in one map: \(names). Keep one of them.")
        default:
            self.init(line: 0, path: "", message: "The YAML cannot be read: \(error).")
        }
    }

    private init(syntax problem: String, _ context: YamlError.Context?, _ mark: Mark, in text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let line = lines.indices.contains(mark.line - 1) ? lines[mark.line - 1] : ""
        let indentation = line.prefix { $0 == " " || $0 == "\t" }
        let message =
            if indentation.contains("\t") {
                "YAML is indented by spaces, and there is a tab; replace it."
            } else if let context, context.mark.line != mark.line {
                "The YAML cannot be read: \(problem) (\(context.text) in line \(context.mark.line))."
            } else {
                "The YAML cannot be read: \(problem). Text with a colon, #, { or [ needs quotes."
            }
        self.init(line: mark.line, path: "", message: message)
    }
}
