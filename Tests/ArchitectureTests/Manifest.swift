import Foundation

/// What `Package.swift` says of the targets, read from its text.
struct Manifest {
    /// A target with the modules that it depends on.
    struct Target: Sendable, CustomStringConvertible {
        let name: String
        let folder: String
        let dependencies: Set<String>
        var description: String { name }
    }
    private(set) var targets: [Target] = []
    /// Libraries of others that have their own name, such as `let grdb = "GRDB".from(…)`.
    private var libraries: [String: String] = [:]

    init(_ text: String) {
        // The targets of fuzzers and storms follow after the package's value.
        let text = String(text[..<(text.range(of: "\nif Context")?.lowerBound ?? text.endIndex)])
        for match in text.matches(of: /let (\w+) = "(\w+)"\.from\(/) { libraries[String(match.1)] = String(match.2) }
        for match in text.matches(
            of: /\b(module|tests)\(\s*"([^"]+)"(?:,\s*\[([^\]]*)\])?(?:,\s*in: "([^"]+)")?/)
        {
            let folder = match.4.map { String($0) } ?? "\(match.1 == "module" ? "Sources" : "Tests")/\(match.2)"
            add(match.2, in: folder, match.3 ?? "")
        }
        for match in text.matches(of: /name:\s*"([^"]+)",\s*dependencies:\s*\[([^\]]*)\]([\s\S]*?)swiftSettings/) {
            let folder = match.3.firstMatch(of: /path: "([^"]+)"/)?.1
            add(match.1, in: folder.map { String($0) } ?? "Sources/\(match.1)", match.2)
        }
        let tests = Self.list("pluginTests", in: text).matches(of: /"(\w+)": \[([^\]]*)\]/)
        for match in Self.list("plugins", in: text).matches(of: /\(\s*"(\w+)",\s*\[([^\]]*)\]\s*\)/) {
            let needs = tests.first { $0.1 == match.1 }?.2 ?? "\"GatewayTesting\""
            add(match.1, in: "Plugins/\(match.1)/Sources", "\"GatewayKit\", \"Vitals\", \(match.2)")
            add(
                "\(match.1)Tests", in: "Plugins/\(match.1)/Tests",
                "\"\(match.1)\", \"GatewayKit\", \"Vitals\", \(needs)")
        }
    }

    /// Adds a target with dependencies such as `"JSON", logging, "Yams".from("Yams")`.
    private mutating func add(_ name: some StringProtocol, in folder: String, _ dependencies: some StringProtocol) {
        let items = String(dependencies).matches(of: /"([\w-]+)"(?:\.from\("[^"]*"\))?|\b([a-z]\w+)/).map { match in
            match.1.map { String($0) } ?? match.2.map { libraries[String($0)] ?? String($0) } ?? ""
        }
        targets.append(Target(name: String(name), folder: folder, dependencies: Set(items)))
    }

    /// The text of the list of this name.
    private static func list(_ name: String, in text: String) -> Substring {
        guard let start = text.range(of: "\nlet \(name):") else { return "" }
        let rest = text[start.upperBound...]
        return rest[..<(rest.range(of: "\n]")?.lowerBound ?? rest.endIndex)]
    }
}
