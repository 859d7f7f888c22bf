import Testing

/// What `Package.swift` says of a target is what its files import.
@Suite struct DependencyRules {
    /// Targets that need the program of another one, and no module of it.
    private static let programs: [String: Set<String>] = [
        "BlueZTests": ["vitals2mqtt"], "GatewayTests": ["vitals2mqtt"], "IntegrationTests": ["vitals2mqtt"],
        "ReplayTests": ["link-wearable"],
    ]

    private static func manifest() throws -> Manifest { Manifest(try Repository.text("Package.swift")) }

    /// What the files of a target import, by the names of the manifest.
    private static func imports(of target: Manifest.Target) throws -> Set<String> {
        // Beside the list of the plugins are the plugins themselves.
        let files = try Repository.swiftFiles(in: target.folder)
            .filter { target.folder != "Plugins" || !$0.path.dropFirst("Plugins/".count).contains("/") }
        return files.reduce(into: []) { $0.formUnion($1.imports) }
    }

    /// The name of the module that a target is.
    private static func module(_ target: String) -> String { target.replacing("-", with: "_") }

    /// Scripts, and the fuzzers, which the manifest has only for `Tests/Fuzz/run`.
    private static let withoutTarget: Set = ["Tests/Campaigns", "Tests/Fuzz", "Tests/Tools"]
    /// Folders whose folders are the targets.
    private static let shelves: Set = ["Tests/Benchmarks", "Tests/Simulation"]

    @Test func `the manifest's reader sees every target`() throws {
        let folders =
            try Repository.folders(in: "Sources").map { "Sources/\($0)" }
            + Repository.folders(in: "Tests").map { "Tests/\($0)" }
            .filter { !Self.withoutTarget.union(Self.shelves).contains($0) }
            + Self.shelves.flatMap { shelf in try Repository.folders(in: shelf).map { "\(shelf)/\($0)" } }
            + Repository.plugins().flatMap { ["Plugins/\($0)/Sources", "Plugins/\($0)/Tests"] } + ["Plugins"]
        let targets = try Self.manifest().targets
        #expect(targets.map(\.folder).sorted() == folders.filter { $0 != "Sources/System" }.sorted())
    }

    @Test func `a dependency is imported, or it is not there`() throws {
        for target in try Self.manifest().targets {
            let imports = try Self.imports(of: target)
            let unused = target.dependencies.subtracting(Self.programs[target.name] ?? [])
                .filter { !imports.contains(Self.module($0)) }
            #expect(unused.isEmpty, "\(target) imports no \(unused.sorted())")
        }
    }

    @Test func `what is imported is a dependency`() throws {
        let targets = try Self.manifest().targets
        let known = targets.reduce(into: Set<String>()) { $0.formUnion($1.dependencies.map(Self.module)) }
        for target in targets where target.name != "BundledPlugins" {
            let missing = try Self.imports(of: target).intersection(known)
                .subtracting(target.dependencies.map(Self.module))
            #expect(missing.isEmpty, "\(target) imports \(missing.sorted()), which it does not depend on")
        }
    }

    @Test func `a program that is needed for itself is not imported`() throws {
        for target in try Self.manifest().targets {
            for program in Self.programs[target.name] ?? [] {
                #expect(target.dependencies.contains(program), "\(target) does not need \(program)")
                #expect(try !Self.imports(of: target).contains(Self.module(program)), "\(target) imports \(program)")
            }
        }
    }

    @Test func `the manifest's reader sees every form of a dependency`() {
        let manifest = Manifest(
            #"""
            let plugins = [
                plugin("Serial", "JSON Logging", tests: "Logging"),
                plugin(
                    "Radio", "",
                    tests: """
                        GatewayTesting \
                        NIOCore
                        """),
            ]

            let package = [
                module("A"),
                module(
                    "B", "A Logging Yams"),
                program(
                    "a-program",
                    """
                    A \
                    B
                    """, in: "Tests/Program"),
                .target(
                    name: "AllPlugins",
                    dependencies: ["B"] + plugins, path: "Plugins"),
                tests("BTests", "B"),
            ]
            if Context.environment["X"] != nil { tests("C") }
            """#)
        let seen = Dictionary(uniqueKeysWithValues: manifest.targets.map { ($0.folder, $0.dependencies) })
        #expect(
            seen == [
                "Sources/A": [], "Sources/B": ["A", "Logging", "Yams"], "Tests/Program": ["A", "B"],
                "Tests/BTests": ["B"], "Plugins": ["B"],
                "Plugins/Serial/Sources": ["GatewayKit", "Vitals", "JSON", "Logging"],
                "Plugins/Serial/Tests": ["Serial", "GatewayKit", "Vitals", "Logging"],
                "Plugins/Radio/Sources": ["GatewayKit", "Vitals"],
                "Plugins/Radio/Tests": ["Radio", "GatewayKit", "Vitals", "GatewayTesting", "NIOCore"],
            ])
    }
}
