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

/// What the tests compute with most is optimised in debug builds, too. Not where the package is a dependency, which may have no such
/// flags, and not for the sanitizers: inlined code of Swift's library writes the length of the shared empty array, which the
/// thread sanitizer reports.
let computing: Set = ["Concurrency", "GatewayTesting", "JSON", "TestSupport", "Vitals"]
let optimised: [SwiftSetting] =
    Context.packageDirectory.contains("/checkouts/") || Context.environment["VITALS2MQTT_SANITIZER"] != nil
    ? [] : [.unsafeFlags(["-O"], .when(configuration: .debug))]

let grdb = "GRDB".from("GRDB.swift")
let sqlite = "GRDBSQLite".from("GRDB.swift")
let deque = "DequeModule".from("swift-collections")
let heap = "HeapModule".from("swift-collections")
let httpTypes = "HTTPTypes".from("swift-http-types")
let hummingbird = "HummingbirdCore".from("hummingbird")
let hummingbirdTLS = "HummingbirdTLS".from("hummingbird")
let lifecycle = "ServiceLifecycle".from("swift-service-lifecycle")
let logging = "Logging".from("swift-log")
let nioCore = "NIOCore".from("swift-nio")
let nioHTTP1 = "NIOHTTP1".from("swift-nio")
let nioSSL = "NIOSSL".from("swift-nio-ssl")
let nioPosix = "NIOPosix".from("swift-nio")
let nioWebSocket = "NIOWebSocket".from("swift-nio")
let subprocess = "Subprocess".from("swift-subprocess")
let systemPackage = "SystemPackage".from("swift-system")
let unixSignals = "UnixSignals".from("swift-service-lifecycle")

/// The plugins that are compiled in: folders of `Plugins/`, with what each needs beyond `GatewayKit` and `Vitals`.
/// `Plugins/BundledPlugins.swift` is the other list; `ArchitectureTests` compares both with the folders.
let plugins: [(name: String, dependencies: [Target.Dependency])] = [
    ("BlueZ", ["Concurrency", "CSDBus", logging]),
    ("ColmiRing", ["Concurrency", logging]),
    ("Exec", ["Concurrency", logging, subprocess, systemPackage]),
    ("GATTHealth", ["Concurrency", logging]),
    (
        "HTTP",
        [
            "Concurrency", "JSON", "Listening", httpTypes, hummingbird, hummingbirdTLS, lifecycle, logging, nioCore,
            nioPosix, "NIOHTTPTypes".from("swift-nio-extras"),
        ]
    ),
    ("Link", ["Concurrency", "JSON", logging]),
    ("O2Ring", ["Concurrency", "JSON", logging]),
    ("PhoneExports", ["Concurrency", "CZlib", "JSON", logging, sqlite]),
    ("Phones", ["Concurrency", "JSON", logging]),
    ("Replay", ["Concurrency", "JSON", "Recordings", logging]),
    ("Simulator", ["Concurrency"]),
    ("TCP", ["Concurrency", "JSON", "Listening", logging, nioCore, nioPosix, nioSSL]),
]

/// The plugins that need a trait of this package, each with its trait. Without the trait the program is built without them, and
/// without the libraries of the system that they need: `swift build --product vitals2mqtt --disable-default-traits`.
let optionalPlugins = ["BlueZ": "Bluetooth"]

/// The embedded samples of configuration, where that is not just `sample.yaml`.
let samples = ["PhoneExports": ["gadgetbridge.yaml", "health-connect.yaml"]]

/// What the tests of a plugin need beyond the plugin, `GatewayKit` and `Vitals`, where that is not just `GatewayTesting`.
let pluginTests: [String: [Target.Dependency]] = [
    "BlueZ": ["Concurrency", "GatewayTesting", "JSON", "MQTT", "TestSupport", "vitals2mqtt", logging],
    "ColmiRing": ["Conformance", "GatewayTesting", "TestSupport"],
    "Exec": ["GatewayTesting", "TestSupport", logging],
    "GATTHealth": ["Conformance", "GatewayTesting", "TestSupport"],
    "HTTP": [
        "Concurrency", "GatewayTesting", "JSON", "Listening", "TestSupport", httpTypes, logging, nioCore, subprocess,
        "NIOEmbedded".from("swift-nio"), "NIOHTTPTypes".from("swift-nio-extras"),
    ],
    "Link": ["Concurrency", "GatewayTesting", "JSON", "TestSupport", logging],
    "O2Ring": ["Conformance", "GatewayTesting", "TestSupport"],
    "PhoneExports": ["Concurrency", "Conformance", "CZlib", "GatewayTesting", "TestSupport", logging, sqlite],
    "Phones": ["Concurrency", "Conformance", "GatewayTesting", "TestSupport", logging],
    "Replay": ["Exec", "GatewayTesting", "GATTHealth", "JSON", "Link", "link-wearable", "Recordings", "TestSupport"],
    "Simulator": ["Conformance", "GatewayTesting", "TestSupport"],
    "TCP": [
        "Concurrency", "GatewayTesting", "TestSupport", logging, nioCore, nioPosix, nioSSL,
        "NIOEmbedded".from("swift-nio"),
    ],
]

/// The suites that run with the sanitizers of threads and addresses.
let sanitizedSuites = [
    "BlueZTests", "ConcurrencyTests", "ContractTests", "DeliveryTests", "ExecTests", "GatewayKitTests",
    "GatewayTests", "HomeAssistantStatisticsTests", "JSONTests", "LinkTests", "ListeningTests", "MQTTTests",
    "PhoneExportsTests", "RecordingsTests", "ReplayTests", "StoreTests", "TCPTests",
]

/// The files of two of them that start the program, which the sanitizers would not see, or that need all plugins, which would
/// add a build of Hummingbird.
let unsanitizedFiles: [String: [String]] = [
    "BlueZTests": [
        "GatewayTests.swift", "PasskeyCommandTests.swift", "ScanCommandTests.swift", "Support/GatewayProgram.swift",
    ],
    "PhoneExportsTests": ["Gadgetbridge", "HealthConnect"],
    "GatewayTests": [
        "Plugins/PluginCatalogueTests.swift", "Process/CommandLineTests.swift",
        "Process/ConfigurationReportTests.swift", "Process/DashboardCommandTests.swift",
        "Process/SourcesCommandTests.swift", "Scan/AddToolTests.swift",
    ],
]

/// What of test targets is no Swift: captured bytes, and scripts.
let fixtures: [String: [String]] = [
    "ArchitectureTests": ["Guides"], "ConcurrencyTests": ["Sanitizer"],
    "ContractTests": ["Fixtures", "Inputs"],
    "ColmiRingTests": ["Inputs"],
    "HomeAssistantTests": ["Fixtures"], "IntegrationTests": ["Fixtures"], "GatewayMainTests": ["Programs"],
    "LinkTests": ["Fixtures", "Inputs"], "GATTHealthTests": ["Inputs"],
    "O2RingTests": ["Inputs"],
    "PhoneExportsTests": [
        "Gadgetbridge/Inputs", "Gadgetbridge/seeds.py", "HealthConnect/Inputs", "HealthConnect/seeds.py",
    ],
    "PhonesTests": ["Fixtures", "Inputs"], "RecordingsTests": ["Inputs"],
    "StoreTests": ["Fixtures"],
]

let package = Package(
    name: "vitals2mqtt",
    products: [
        .executable(name: "vitals2mqtt", targets: ["vitals2mqtt"]),
        // For plugins in packages of their own: what they implement, what tests them, and the program that has them.
        .library(name: "GatewayKit", targets: ["GatewayKit", "Vitals"]),
        .library(name: "GatewayTesting", targets: ["GatewayTesting", "Conformance"]),
        .library(name: "GatewayMain", targets: ["GatewayMain"]),
    ],
    traits: [
        .trait(name: "Bluetooth", description: "Devices with Bluetooth Low Energy, by BlueZ. Needs libsystemd."),
        .default(enabledTraits: ["Bluetooth"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.1.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.3.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.80.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.24.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.30.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.5.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.5.0"),
        // Without swift-configuration, which nothing here uses.
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: ["FullFoundation"]),
        .package(url: "https://github.com/jpsim/Yams", from: "6.0.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.7.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CMosquitto", pkgConfig: "libmosquitto",
            providers: [.apt(["libmosquitto-dev"])]),
        .systemLibrary(name: "CSDBus", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .systemLibrary(name: "CTimex"),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        module("Concurrency", [deque, heap]),
        module("JSON"),
        module("Vitals"),
        module("GatewayKit", ["Concurrency", "Vitals", logging]),
        module("Listening", ["Concurrency", "GatewayKit", nioCore, nioSSL]),
        module("Recordings", ["GatewayKit", "JSON", "Vitals"]),
        module("Engines", ["Concurrency", "GatewayKit", "Vitals", logging]),
        module("Store", ["Concurrency", "JSON", "Vitals", grdb, sqlite]),
        module("Contract", ["JSON", "MQTT", "Vitals"]),
        module("Mosquitto", ["CMosquitto", "Concurrency", "MQTT", logging]),
        module("MQTT", ["Concurrency"]),
        module("HomeAssistant", ["Contract", "JSON", "MQTT", "Vitals"]),
        module(
            "HomeAssistantStatistics",
            [
                "Concurrency", "HomeAssistant", "JSON", "Vitals", logging, nioCore, nioHTTP1, nioPosix, nioSSL,
                nioWebSocket,
            ]),
        module("Delivery", ["Concurrency", "Contract", "HomeAssistant", "MQTT", "Vitals", deque, logging]),
        module(
            "Gateway",
            [
                "Concurrency", "Contract", "CTimex", "Delivery", "Engines", "GatewayKit", "HomeAssistant",
                "HomeAssistantStatistics", "JSON", "Listening", "Mosquitto", "MQTT", "Recordings", "Store", "Vitals",
                lifecycle, logging, unixSignals, "Yams".from("Yams"),
            ]),
        module("Conformance", ["Concurrency", "GatewayKit", "Vitals"]),
        module(
            "GatewayMain",
            [
                "BundledPlugins", "Concurrency", "Conformance", "Exec", "Gateway", "GatewayKit", "Link", "Vitals",
                logging, "ArgumentParser".from("swift-argument-parser"),
            ]),
        module("GatewayTesting", ["Concurrency", "GatewayKit", "Vitals", logging]),
        .executableTarget(
            name: "vitals2mqtt", dependencies: ["GatewayMain"], swiftSettings: settings),
        .target(
            name: "BundledPlugins",
            dependencies: ["GatewayKit"] + plugins.map { bundled($0.name) },
            path: "Plugins", exclude: plugins.map(\.name) + ["Examples"], sources: ["BundledPlugins.swift"],
            swiftSettings: settings),
    ] + plugins.flatMap { plugin($0.name, $0.dependencies) } + [
        // What several suites need.
        module(
            "TestSupport",
            [
                "Concurrency", "Conformance", "GatewayKit", "GatewayTesting", "JSON", "MQTT", "Store", "Vitals",
                logging, subprocess, systemPackage,
            ], in: "Tests/Support"),
        module(
            "GatewaySimulation",
            [
                "Contract", "Delivery", "Engines", "Gateway", "GatewayKit", "GatewayTesting", "JSON", "MQTT", "Store",
                "TestSupport", "Vitals", logging,
            ], in: "Tests/Simulation/GatewaySimulation"),
        .executableTarget(
            name: "vitals2mqtt-simulate",
            dependencies: ["GatewaySimulation", "Vitals", "ArgumentParser".from("swift-argument-parser")],
            path: "Tests/Simulation/Program", swiftSettings: settings),
        .executableTarget(
            name: "vitals2mqtt-bench",
            dependencies: ["CMosquitto", "JSON", grdb, "ArgumentParser".from("swift-argument-parser")],
            path: "Tests/Benchmarks/Program", swiftSettings: settings),
        tests("ArchitectureTests"),
        tests("BenchTests", ["Contract", "JSON", "MQTT", "Vitals", "vitals2mqtt-bench"]),
        // A simulated wearable as its own program: the other end of these tests.
        .executableTarget(
            name: "link-wearable",
            dependencies: [
                "Conformance", "GatewayKit", "GatewayTesting", "Simulator", "TestSupport", "Vitals", unixSignals,
            ],
            path: "Tests/LinkWearable", swiftSettings: settings),
        tests(
            "ConformanceTests",
            [
                "Conformance", "Exec", "GatewayKit", "GatewayTesting", "Link", "link-wearable", "TCP", "TestSupport",
                "Vitals", nioCore, nioPosix,
            ]),
        tests("ConcurrencyTests", ["Concurrency", "GatewayKit", "GatewayTesting", "TestSupport", "Vitals"]),
        tests("ContractTests", ["Contract", "JSON", "MQTT", "TestSupport", "Vitals"]),
        tests(
            "DeliveryTests",
            [
                "Concurrency", "Contract", "Delivery", "GatewayKit", "GatewayTesting", "HomeAssistant", "JSON",
                "Mosquitto", "MQTT", "Store", "TestSupport", "Vitals", logging,
            ]),
        tests(
            "EnginesTests",
            ["Concurrency", "Engines", "GatewayKit", "GatewayTesting", "TestSupport", "Vitals", logging]),
        tests("GatewayKitTests", ["GatewayKit", "Vitals"]),
        tests(
            "GatewayTestingTests",
            ["Concurrency", "Conformance", "GatewayKit", "GatewayTesting", "JSON", "TestSupport", "Vitals", logging]),
        tests(
            "GatewayTests",
            [
                "BundledPlugins", "Concurrency", "Contract", "Engines", "Gateway", "GatewayKit", "GatewayTesting",
                "JSON", "MQTT", "Recordings", "Store", "TestSupport", "Vitals", "vitals2mqtt", grdb, lifecycle, logging,
                subprocess, systemPackage,
            ]),
        tests("HomeAssistantTests", ["Contract", "HomeAssistant", "JSON", "MQTT", "Vitals"]),
        tests(
            "HomeAssistantStatisticsTests",
            [
                "Concurrency", "Contract", "GatewayTesting", "HomeAssistant", "HomeAssistantStatistics", "JSON",
                "Store", "TestSupport", "Vitals", logging, nioCore, nioHTTP1, nioPosix, nioWebSocket,
            ]),
        tests(
            "IntegrationTests",
            [
                "Concurrency", "GatewayTesting", "JSON", "Mosquitto", "MQTT", "TestSupport", "Vitals", "vitals2mqtt",
                logging,
            ]),
        tests("JSONTests", ["JSON", "Vitals"]),
        tests(
            "ListeningTests", ["Concurrency", "GatewayKit", "Listening", "TestSupport", "Vitals", nioCore, nioPosix]),
        tests("MQTTTests", ["GatewayKit", "GatewayTesting", "Mosquitto", "MQTT", "TestSupport", "Vitals", logging]),
        tests("GatewayMainTests", ["GatewayKit", "GatewayMain", "Link", logging]),
        tests("RecordingsTests", ["GatewayKit", "GatewayTesting", "Recordings", "TestSupport", "Vitals"]),
        tests(
            "SimulationTests",
            [
                "ColmiRing", "Concurrency", "Contract", "Delivery", "Engines", "Gateway", "GatewayKit",
                "GatewaySimulation", "GatewayTesting", "GATTHealth", "HomeAssistant", "JSON", "Link", "MQTT", "O2Ring",
                "Simulator", "Store", "TestSupport", "Vitals", "vitals2mqtt-simulate", logging,
                "ArgumentParser".from("swift-argument-parser"),
            ]),
        tests("StoreTests", ["Concurrency", "Engines", "Store", "TestSupport", "Vitals", grdb]),
        tests("VitalsTests", ["Vitals"]),
    ]
)

// Only `Tests/Fuzz/run` builds the fuzzers, as a library, since libFuzzer brings the main program. Its table is `Tests/Fuzz`; it shares the
// files with what must hold with the tests, which are left out then: a file belongs to one target.
if Context.environment["VITALS2MQTT_FUZZERS"] != nil {
    package.products = [.library(name: "Fuzzers", type: .static, targets: ["Fuzzers"])]
    package.targets = package.targets.filter { $0.type != .test }
    package.targets.append(
        .target(
            name: "Fuzzers",
            dependencies: [
                "ColmiRing", "Contract", "GATTHealth", "GatewayKit", "JSON", "Link", "MQTT", "O2Ring",
                "PhoneExports", "Phones", "Recordings", "Vitals", logging,
            ],
            path: ".",
            sources: [
                "Tests/Fuzz/Fuzzers.swift", "Tests/ContractTests/CommandInput.swift",
                "Tests/ContractTests/Examples.swift", "Tests/RecordingsTests/RecordingInput.swift",
                "Plugins/PhoneExports/Tests/Support/ExportViolations.swift",
            ]
                + [
                    "ColmiRing/Tests/Ring", "GATTHealth/Tests/Characteristic", "Link/Tests/Link", "O2Ring/Tests/Oxi",
                    "PhoneExports/Tests/Gadgetbridge/Export", "PhoneExports/Tests/Gadgetbridge/Record",
                    "PhoneExports/Tests/HealthConnect/HealthConnect", "Phones/Tests/Document",
                ].map { "Plugins/\($0)Input.swift" },
            swiftSettings: settings))
}

// Only `deploy/test --threads` and `--addresses` build this part of the package, with the sanitizer of that name: the suites that
// wait, lock, or touch memory by its address, with what they need, so that the build takes minutes.
if let sanitizer = Context.environment["VITALS2MQTT_SANITIZER"] {
    package.products = []
    for target in package.targets {
        guard let files = unsanitizedFiles[target.name] else { continue }
        target.exclude += files
        target.dependencies.removeAll { $0.isOn("BundledPlugins") || $0.isOn("vitals2mqtt") }
    }
    // Others by hand, such as HTTPTests: `SANITIZED_SUITES="HTTPTests" deploy/test --threads`.
    let suites = Context.environment["SANITIZED_SUITES"]?.split(separator: " ").map(String.init)
    package.targets = package.targets.needed(for: suites ?? sanitizedSuites)
    if sanitizer == "thread" {
        let locks = "SanitizedLocks"
        for target in package.targets where target.type != .system { target.plugins = [.plugin(name: locks)] }
        package.targets.append(
            .plugin(name: locks, capability: .buildTool(), path: "Tests/ConcurrencyTests/Sanitizer/Plugin"))
    }
}

/// A module of the gateway, in `Sources/<name>`, or one of its tests in another folder.
func module(_ name: String, _ dependencies: [Target.Dependency] = [], in folder: String? = nil) -> Target {
    .target(
        name: name, dependencies: dependencies, path: folder,
        swiftSettings: settings + (computing.contains(name) ? optimised : []))
}

/// A plugin: `Plugins/<name>/Sources`, and its tests beside it.
func plugin(_ name: String, _ dependencies: [Target.Dependency]) -> [Target] {
    let api: [Target.Dependency] = ["GatewayKit", "Vitals"]
    return [
        .target(
            name: name, dependencies: api + dependencies,
            path: "Plugins/\(name)/Sources", resources: (samples[name] ?? ["sample.yaml"]).map { .embedInCode($0) },
            swiftSettings: settings),
        .testTarget(
            name: "\(name)Tests",
            dependencies: [.target(name: name)] + api + (pluginTests[name] ?? ["TestSupport"]),
            path: "Plugins/\(name)/Tests", exclude: fixtures["\(name)Tests"] ?? [], swiftSettings: settings),
    ]
}

/// The dependency on a plugin of the program that has them all.
func bundled(_ name: String) -> Target.Dependency {
    optionalPlugins[name].map { .target(name: name, condition: .when(traits: [$0])) } ?? .target(name: name)
}

/// The tests of a module, in `Tests/<name>`. Fixtures are read from the source folder, not bundled.
func tests(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, exclude: fixtures[name] ?? [], swiftSettings: settings)
}

extension String {
    /// The product of this name of a package.
    func from(_ package: String) -> Target.Dependency { .product(name: self, package: package) }
}

extension [Target] {
    /// These targets and all that they depend on.
    func needed(for names: [String]) -> [Target] {
        var needed = Set(names)
        var waiting = names
        while let name = waiting.popLast() {
            for case .targetItem(let dependency, _) in first(where: { $0.name == name })?.dependencies.map(\.asTarget)
                ?? []
            {
                if needed.insert(dependency).inserted { waiting.append(dependency) }
            }
        }
        return filter { needed.contains($0.name) }
    }
}

extension Target.Dependency {
    /// The dependency as one on a target, if it names one.
    fileprivate var asTarget: Target.Dependency {
        if case .byNameItem(let name, _) = self { .target(name: name) } else { self }
    }

    /// Whether it is the dependency on a target of this package.
    fileprivate func isOn(_ target: String) -> Bool {
        if case .targetItem(target, _) = asTarget { true } else { false }
    }
}
