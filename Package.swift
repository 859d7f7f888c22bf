// swift-tools-version: 6.2
import PackageDescription

/// Settings of every target of ours, each with its reason.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),  // a dynamic dispatch is visible where it happens
    .enableUpcomingFeature("InternalImportsByDefault"),  // a dependency does not leak into an interface by accident
    .enableUpcomingFeature("MemberImportVisibility"),  // a file imports what it uses
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),  // an async function stays on its caller's executor
    .enableUpcomingFeature("InferIsolatedConformances"),  // an actor's conformances are usable where the actor is
    .enableUpcomingFeature("ImmutableWeakCaptures"),  // a weak capture cannot race
    .treatAllWarnings(as: .error),  // a warning is a defect that has not happened yet
]

let grdb = "GRDB".from("GRDB.swift")
let sqlite = "GRDBSQLite".from("GRDB.swift")
let lifecycle = "ServiceLifecycle".from("swift-service-lifecycle")
let logging = "Logging".from("swift-log")
let metrics = "CoreMetrics".from("swift-metrics")
let subprocess = "Subprocess".from("swift-subprocess")
let systemPackage = "SystemPackage".from("swift-system")
let unixSignals = "UnixSignals".from("swift-service-lifecycle")

/// The plugins that are compiled in: folders of `Plugins/`, with what each needs beyond `GatewayKit` and `Vitals`.
/// `Plugins/BundledPlugins.swift` is the other list; `ArchitectureTests` compares both with the folders.
let plugins: [(name: String, dependencies: [Target.Dependency])] = [
    ("Exec", [subprocess, systemPackage]),
    ("Link", ["JSON"]),
    ("Simulator", []),
    ("TCP", ["NIOCore".from("swift-nio"), "NIOPosix".from("swift-nio")]),
]

/// Folders of test targets that hold captured bytes, or what only a fuzzer is made of.
let fixtures: [String: [String]] = [
    "ArchitectureTests": ["Guides"], "ContractTests": ["Fixtures", "Fuzzer", "Inputs"],
    "HomeAssistantTests": ["Fixtures"], "IntegrationTests": ["Fixtures"],
    "LinkTests": ["Fixtures", "Fuzzer", "Inputs"],
]

let package = Package(
    name: "vitals2mqtt",
    products: [
        .executable(name: "vitals2mqtt", targets: ["vitals2mqtt"]),
        .library(name: "GatewayKit", targets: ["GatewayKit", "Vitals"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.80.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.5.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.5.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.0.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.7.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CMosquitto", pkgConfig: "libmosquitto",
            providers: [.apt(["libmosquitto-dev"])]),
        module("JSON"),
        module("Vitals"),
        module("GatewayKit", ["Vitals", logging]),
        module("Engines", ["GatewayKit", "Vitals", logging]),
        module("Store", ["Engines", "JSON", "Vitals", grdb, sqlite]),
        module("Contract", ["JSON", "Vitals"]),
        module("MQTT", ["CMosquitto", logging]),
        module("HomeAssistant", ["Contract", "JSON", "Vitals"]),
        module(
            "Gateway",
            [
                "BundledPlugins", "Contract", "Engines", "GatewayKit", "HomeAssistant", "JSON", "MQTT", "Store",
                "Vitals",
                lifecycle, logging, metrics, unixSignals, "Yams".from("Yams"),
            ]),
        module(
            "GatewayTesting",
            ["Engines", "GatewayKit", "JSON", "MQTT", "Store", "Vitals", logging, subprocess, systemPackage]),
        .executableTarget(
            name: "vitals2mqtt",
            dependencies: ["BundledPlugins", "Gateway", logging, "ArgumentParser".from("swift-argument-parser")],
            swiftSettings: settings),
        .executableTarget(
            name: "vitals2mqtt-bench",
            dependencies: ["CMosquitto", "JSON", grdb, "ArgumentParser".from("swift-argument-parser")],
            swiftSettings: settings),
        .target(
            name: "BundledPlugins",
            dependencies: ["GatewayKit"] + plugins.map { .target(name: $0.name) },
            path: "Plugins", exclude: plugins.map(\.name), sources: ["BundledPlugins.swift"], swiftSettings: settings),
    ] + plugins.flatMap { plugin($0.name, $0.dependencies) } + [
        tests("ArchitectureTests"),
        tests("BenchTests", ["vitals2mqtt-bench", "Contract", "JSON", "Vitals"]),
        // A simulated wearable as a program of its own: the other end of these tests.
        .executableTarget(
            name: "link-wearable", dependencies: ["GatewayKit", "GatewayTesting", "Simulator", "Vitals", unixSignals],
            path: "Tests/LinkWearable", swiftSettings: settings),
        tests(
            "ConformanceTests",
            [
                "Exec", "GatewayKit", "GatewayTesting", "Link", "TCP", "Vitals", "link-wearable",
                "NIOCore".from("swift-nio"), "NIOPosix".from("swift-nio"),
            ]),
        tests("ContractTests", ["Contract", "JSON", "Vitals"]),
        tests("EnginesTests", ["Engines", "GatewayKit", "GatewayTesting", "Vitals"]),
        tests("GatewayKitTests", ["GatewayKit", "Vitals"]),
        tests("GatewayTestingTests", ["GatewayKit", "GatewayTesting", "JSON", "Vitals", logging]),
        tests(
            "GatewayTests",
            [
                "BundledPlugins", "Contract", "Engines", "Gateway", "GatewayKit", "GatewayTesting", "HomeAssistant",
                "JSON", "MQTT", "Vitals", "vitals2mqtt", logging, subprocess, systemPackage,
            ]),
        tests("HomeAssistantTests", ["Contract", "HomeAssistant", "JSON", "Vitals"]),
        tests("IntegrationTests", ["GatewayTesting", "JSON", "MQTT", "Vitals", subprocess, logging]),
        tests("JSONTests", ["JSON", "Vitals"]),
        tests("MQTTTests", ["GatewayKit", "GatewayTesting", "MQTT", "Vitals", logging]),
        tests(
            "SimulationTests",
            [
                "Contract", "Engines", "Gateway", "GatewayKit", "GatewayTesting", "HomeAssistant", "JSON", "MQTT",
                "Simulator", "Store", "Vitals", logging,
            ]),
        tests("StoreTests", ["Engines", "GatewayTesting", "Store", "Vitals", grdb]),
        tests("VitalsTests", ["Vitals"]),
    ]
)

// Only `deploy/fuzz` builds the fuzzers, as libraries, since libFuzzer brings the main program. They share the files with what
// must hold with the tests, which are left out then: a file belongs to one target.
if Context.environment["VITALS2MQTT_FUZZERS"] != nil {
    package.products = ["CommandFuzzer", "LinkFuzzer"].map { .library(name: $0, type: .static, targets: [$0]) }
    package.targets = package.targets.filter { $0.type != .test }
    package.targets += [
        .target(
            name: "CommandFuzzer", dependencies: ["Contract", "JSON", "Vitals"], path: "Tests/ContractTests",
            exclude: ["Fixtures", "Inputs"], sources: ["CommandInput.swift", "Examples.swift", "Fuzzer"],
            swiftSettings: settings),
        .target(
            name: "LinkFuzzer", dependencies: ["GatewayKit", "JSON", "Link", "Vitals"], path: "Plugins/Link/Tests",
            exclude: ["Fixtures", "Inputs"], sources: ["LinkInput.swift", "Fuzzer"], swiftSettings: settings),
    ]
}

/// A module of the gateway, in `Sources/<name>`.
func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

/// A plugin: `Plugins/<name>/Sources`, and its tests beside it.
func plugin(_ name: String, _ dependencies: [Target.Dependency]) -> [Target] {
    let api: [Target.Dependency] = ["GatewayKit", "Vitals", logging]
    return [
        .target(
            name: name, dependencies: api + dependencies,
            path: "Plugins/\(name)/Sources", swiftSettings: settings),
        .testTarget(
            name: "\(name)Tests", dependencies: [.target(name: name), "GatewayTesting"] + api + dependencies,
            path: "Plugins/\(name)/Tests", exclude: fixtures["\(name)Tests"] ?? [], swiftSettings: settings),
    ]
}

/// The tests of a module, in `Tests/<name>`. Fixtures are read from the source folder, not bundled.
func tests(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, exclude: fixtures[name] ?? [], swiftSettings: settings)
}

extension String {
    /// The product of this name of a package.
    func from(_ package: String) -> Target.Dependency { .product(name: self, package: package) }
}
