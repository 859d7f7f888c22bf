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

    init(_ text: String) {
        // The targets of fuzzers and sanitizers, and the functions, follow after the package's value.
        let text = text[..<(text.range(of: "\nif Context")?.lowerBound ?? text.endIndex)]
        for match in text.matches(
            of: /\b(module|program|tests)\(\s*"([\w-]+)"(?:,\s*("""[^"]*"""|"[^"]*"))?(?:,\s*in: "([^"]+)")?\s*\)/)
        {
            let folder = match.4.map { String($0) } ?? "\(match.1 == "tests" ? "Tests" : "Sources")/\(match.2)"
            add(match.2, in: folder, match.3 ?? "")
        }
        for match in text.matches(
            of: /\bplugin\(\s*"(\w+)",\s*("""[^"]*"""|"[^"]*"),\s*tests:\s*("""[^"]*"""|"[^"]*")\)/)
        {
            add(match.1, in: "Plugins/\(match.1)/Sources", "GatewayKit Vitals \(match.2)")
            add("\(match.1)Tests", in: "Plugins/\(match.1)/Tests", "\(match.1) GatewayKit Vitals \(match.3)")
        }
        for match in text.matches(of: /name: "(\w+)",\s*dependencies: \["(\w+)"\][\s\S]*?path: "([^"]+)"/) {
            add(match.1, in: String(match.3), match.2)
        }
    }

    /// Adds a target with dependencies such as `"JSON Yams"`.
    private mutating func add(_ name: some StringProtocol, in folder: String, _ dependencies: some StringProtocol) {
        let names = String(dependencies).matches(of: /[\w-]+/).map { String($0.0) }
        targets.append(Target(name: String(name), folder: folder, dependencies: Set(names)))
    }
}
