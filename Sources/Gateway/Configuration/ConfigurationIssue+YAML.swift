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
            let sorted = keys.sorted()
            // The mark is the first place of the first key.
            let lines = Self.lines(of: sorted.first ?? "", from: context.mark, in: text)
            let places = lines.map { "\($0)" }.joined(separator: " and ")
            let names = sorted.enumerated().map { index, key in
                index == 0 && lines.count > 1 ? "\(key) (lines \(places))" : key
            }
            self.init(
                line: lines.last ?? context.mark.line, path: "",
                message: "The same key occurs twice in one map: \(names.joined(separator: ", ")). Keep one of them.")
        default:
            self.init(line: 0, path: "", message: "The YAML cannot be read: \(error).")
        }
    }

    /// The first two lines with a key of one map, of which the first place is known; only that one where the map is written in braces.
    private static func lines(of key: String, from mark: Mark, in text: String) -> [Int] {
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated().dropFirst(mark.line) {
            let indentation = line.prefix { $0 == " " }.count
            let rest = line.dropFirst(indentation)
            guard !rest.isEmpty, !rest.hasPrefix("#") else { continue }
            guard indentation >= mark.column - 1 else { break }
            guard indentation == mark.column - 1 else { continue }
            let isKey = ["\(key)", "\"\(key)\"", "'\(key)'"].contains { word in
                rest.hasPrefix(word) && rest.dropFirst(word.count).drop { $0 == " " }.hasPrefix(":")
            }
            if isKey { return [mark.line, index + 1] }
        }
        return [mark.line]
    }

    private init(syntax problem: String, _ context: YamlError.Context?, _ mark: Mark, in text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let line = lines.indices.contains(mark.line - 1) ? lines[mark.line - 1] : ""
        let indentation = line.prefix { $0 == " " || $0 == "\t" }
        let message =
            if indentation.contains("\t") {
                "YAML is indented by spaces, and there is a tab; replace it."
            } else if let context, context.mark.line != mark.line {
                "The YAML cannot be read: \(problem) (\(context.text) in line \(context.mark.line)). This line's indentation "
                    + "differs from the lines above, or it belongs to another section."
            } else {
                "The YAML cannot be read: \(problem). Text with a colon, #, { or [ needs quotes, or the indentation of this "
                    + "line differs from the line above."
            }
        self.init(line: mark.line, path: "", message: message)
    }
}
