/// The types in the project's sources and their members, by their full names: `Sample`, `Sample.end`,
/// `DailySummary.Extremes.maximum`.
///
/// It relies on the indentation, which the linter checks: a line four spaces inside a type is a member, a deeper one
/// belongs to a function.
struct SwiftDeclarations {
    private(set) var names: Set<String> = []

    private static let types: Set = ["struct", "class", "enum", "actor", "protocol", "extension", "typealias"]
    private static let members: Set = ["var", "let", "func", "init", "subscript"]
    private static let modifiers: Set = [
        "public", "package", "internal", "private", "fileprivate", "open", "static", "final", "indirect", "mutating",
        "nonisolated", "override", "lazy", "weak", "required", "convenience", "isolated", "consuming", "borrowing",
    ]

    init(_ files: [Repository.File]) {
        for file in files { read(file) }
    }

    private mutating func read(_ file: Repository.File) {
        var scopes: [(indentation: Int, name: String)] = []
        for line in file.lines {
            let text = line.drop { $0 == " " }
            // A brace or a parenthesis alone on a line continues a declaration that is already open.
            guard let first = text.first, !"/{)}".contains(first) else { continue }
            let indentation = line.count - text.count
            while let scope = scopes.last, scope.indentation >= indentation { scopes.removeLast() }
            guard indentation == scopes.last.map({ $0.indentation + 4 }) ?? 0 else { continue }
            var words = text.split(separator: " ")
            while let word = words.first, Self.isModifier(word) { words.removeFirst() }
            guard let keyword = words.first.map({ String($0.prefix { $0.isLetter }) }) else { continue }
            let path = scopes.last.map { $0.name + "." } ?? ""
            if Self.types.contains(keyword), words.count > 1 {
                let name = path + Self.identifier(words[1], allowing: ".")
                names.insert(name)
                scopes.append((indentation, name))
                // An enumeration on one line.
                if keyword == "enum", let body = text.split(separator: "{").dropFirst().first {
                    addCases(body.drop { $0 == " " }, to: name + ".")
                }
            } else if keyword == "case" {
                addCases(text, to: path)
            } else if Self.members.contains(keyword) {
                let isNamed = keyword == "var" || keyword == "let" || keyword == "func"
                names.insert(path + (isNamed && words.count > 1 ? Self.identifier(words[1]) : keyword))
            }
        }
    }

    private static func isModifier(_ word: Substring) -> Bool {
        word.hasPrefix("@") || modifiers.contains(String(word.prefix { $0.isLetter }))
    }

    private static func identifier(_ word: Substring, allowing others: String = "") -> String {
        String(word.drop { $0 == "`" }.prefix { $0.isLetter || $0.isNumber || $0 == "_" || others.contains($0) })
    }

    /// The names of a line such as `case deep, light(Int, Int), rem = "REM"`.
    private mutating func addCases(_ line: Substring, to path: String) {
        guard line.hasPrefix("case ") else { return }
        var depth = 0
        var parts: [Substring] = [""]
        for letter in line.dropFirst(5) {
            if letter == "(" { depth += 1 }
            if letter == ")" { depth -= 1 }
            if letter == ",", depth == 0 { parts.append("") } else { parts[parts.count - 1].append(letter) }
        }
        for part in parts { names.insert(path + Self.identifier(part.drop { $0 == " " })) }
    }
}
