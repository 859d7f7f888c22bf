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

/// What is used of the packages of others, by package.
let products: [String: String] = [
    "GRDB.swift": "GRDB GRDBSQLite",
    "hummingbird": "HummingbirdCore HummingbirdTLS",
    "swift-argument-parser": "ArgumentParser",
    "swift-collections": "DequeModule HeapModule",
    "swift-crypto": "Crypto",
    "swift-http-types": "HTTPTypes",
    "swift-log": "Logging",
    "swift-metrics": "CoreMetrics MetricsTestKit",
    "swift-mustache": "Mustache",
    "swift-nio": "NIOCore NIOEmbedded NIOHTTP1 NIOPosix NIOWebSocket",
    "swift-nio-extras": "NIOHTTPTypes",
    "swift-nio-ssl": "NIOSSL",
    "swift-protobuf": "SwiftProtobuf",
    "swift-service-lifecycle": "ServiceLifecycle UnixSignals",
    "swift-subprocess": "Subprocess",
    "swift-system": "SystemPackage",
    "Yams": "Yams",
]

/// The plugins that need a trait of this package, each with its trait. Without the trait the program is built without them, and
/// without the libraries of the system that they need: `swift build --product vitals2mqtt --disable-default-traits`.
let optionalPlugins = ["BlueZ": "Bluetooth"]

/// The embedded samples of configuration, where that is not just `sample.yaml`.
let samples = [
    "Phones": ["sample.yaml", "Exports/fit-files.yaml", "Exports/gadgetbridge.yaml", "Exports/health-connect.yaml"]
]

/// What modules have embedded beside their code: files, and folders of files whose names differ.
let embedded = ["Web": ["API/openapi.json", "Assets", "Templates"]]

/// The suites that run with the sanitizers of threads and addresses.
let sanitizedSuites = [
    "BlueZTests", "ConcurrencyTests", "ContractTests", "DeliveryTests", "ESPHomeTests", "ExecTests", "GatewayKitTests",
    "GatewayTests", "HomeAssistantTests", "LinkTests", "ListeningTests", "MQTTTests",
    "PhonesTests", "ReplayTests", "StoreTests", "TCPTests", "WebTests",
]

/// What the sanitizers leave out of five of them: what starts programs alone, which they would not see, or needs all plugins, and posts
/// of twenty megabytes.
let unsanitized = [
    "BlueZTests": ["WithProgram"], "ContractTests": ["AccessRightsTests.swift"], "GatewayTests": ["WithProgram"],
    "PhonesTests": [
        "AppleExport/ExportMemoryTests.swift", "DocumentMemoryTests.swift", "Exports/Gadgetbridge",
        "Exports/HealthConnect",
    ],
    "WebTests": ["Posts"],
]

/// What of test targets is no Swift: captured bytes, and scripts.
let fixtures = [
    "ArchitectureTests": ["Guides", "limits.tsv"], "ColmiRingTests": ["Inputs"], "ConcurrencyTests": ["Sanitizer"],
    "ContractTests": ["Fixtures", "Inputs"], "ESPHomeTests": ["Fixtures"], "GATTHealthTests": ["Inputs"],
    "GatewayMainTests": ["Programs"],
    "GatewayTests": ["Export/Fixtures"], "HomeAssistantTests": ["Fixtures"], "IntegrationTests": ["Fixtures"],
    "LinkTests": ["Fixtures", "Inputs"],
    "O2RingTests": ["Inputs"],
    "PhonesTests": [
        "Fixtures", "Inputs", "Exports/FIT/Inputs", "Exports/Gadgetbridge/Inputs", "Exports/HealthConnect/Inputs",
        "Exports/seeds.py",
    ], "ReplayTests": ["Recordings/Inputs"],
    "StoreTests": ["Fixtures"],
]

/// The plugins that are compiled in, each a folder of `Plugins/` with its tests.
/// `Plugins/BundledPlugins.swift` is the other list; `ArchitectureTests` compares both with the folders.
let plugins: [[Target]] = [
    plugin(
        "BlueZ", "Concurrency CSDBus Logging",
        tests: "Concurrency GatewayTesting JSON MQTT TestSupport vitals2mqtt Logging"),
    plugin("ColmiRing", "Concurrency Logging", tests: "Conformance GatewayTesting TestSupport"),
    plugin(
        "ESPHome", "Concurrency Listening Crypto Logging NIOCore NIOPosix SwiftProtobuf",
        tests: "Concurrency GatewayTesting GATTHealth TestSupport Crypto Logging NIOCore NIOPosix SwiftProtobuf"),
    plugin("Exec", "Concurrency Logging Subprocess SystemPackage", tests: "GatewayTesting TestSupport Logging"),
    plugin("GATTHealth", "Concurrency Logging", tests: "Conformance GatewayTesting TestSupport"),
    plugin("HTTP", "Listening", tests: "Listening TestSupport Logging"),
    plugin("Link", "Concurrency JSON Logging", tests: "Concurrency GatewayTesting JSON TestSupport Logging"),
    plugin("O2Ring", "JSON", tests: "Conformance GatewayTesting TestSupport"),
    plugin(
        "Phones", "Concurrency CExpat CZlib JSON GRDBSQLite Logging",
        tests: "Concurrency Conformance CZlib GatewayTesting JSON TestSupport GRDBSQLite Logging"),
    plugin(
        "Replay", "Concurrency JSON Recordings Logging",
        tests: "Exec GatewayTesting GATTHealth JSON Link link-wearable Recordings TestSupport"),
    plugin("Simulator", "Concurrency", tests: "Conformance GatewayTesting TestSupport"),
    plugin(
        "TCP", "Concurrency JSON Listening Logging NIOCore NIOPosix NIOSSL",
        tests: "Concurrency GatewayTesting Listening TestSupport Logging NIOCore NIOEmbedded NIOPosix NIOSSL"),
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
        .package(url: "https://github.com/apple/swift-crypto", from: "4.0.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.3.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.80.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.24.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.30.0"),
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.5.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.5.0"),
        // Without swift-configuration, which nothing here uses.
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: ["FullFoundation"]),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.0.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.0.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.7.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.0"),
    ],
    targets: [
        system("CCrypt", pkgConfig: "libcrypt", package: "libcrypt-dev"),
        system("CExpat", pkgConfig: "expat", package: "libexpat1-dev"),
        system("CMosquitto", pkgConfig: "libmosquitto", package: "libmosquitto-dev"),
        system("CQREncode", pkgConfig: "libqrencode", package: "libqrencode-dev"),
        system("CSDBus", pkgConfig: "libsystemd", package: "libsystemd-dev"),
        system("CTimex"),
        system("CZlib", pkgConfig: "zlib", package: "zlib1g-dev"),
        module("Concurrency", "DequeModule HeapModule"),
        module("JSON"),
        module("Vitals"),
        module("GatewayKit", "Concurrency Vitals Logging"),
        module("Listening", "Concurrency GatewayKit Vitals Logging NIOCore NIOHTTPTypes NIOSSL"),
        module(
            "Web",
            """
            CCrypt Concurrency Contract CQREncode CZlib GatewayKit JSON Listening Vitals CoreMetrics HTTPTypes \
            HummingbirdCore HummingbirdTLS Logging Mustache NIOCore NIOHTTPTypes NIOPosix NIOSSL ServiceLifecycle
            """),
        module("Recordings", "GatewayKit JSON Vitals"),
        module("Engines", "Concurrency GatewayKit Vitals Logging"),
        module("Store", "Concurrency JSON Vitals GRDB GRDBSQLite"),
        module("MQTT", "Concurrency"),
        module("Mosquitto", "CMosquitto Concurrency MQTT Logging"),
        module("Contract", "JSON MQTT Vitals"),
        module("HomeAssistant", "Contract JSON MQTT Vitals"),
        module(
            "HomeAssistantStatistics",
            "Concurrency HomeAssistant JSON Vitals Logging NIOCore NIOHTTP1 NIOPosix NIOSSL NIOWebSocket"),
        module("Delivery", "Concurrency Contract HomeAssistant MQTT Vitals DequeModule Logging"),
        module(
            "Gateway",
            """
            Concurrency Contract CTimex Delivery Engines GatewayKit HomeAssistant HomeAssistantStatistics JSON \
            Listening Mosquitto MQTT Recordings Store Vitals Web DequeModule Logging ServiceLifecycle UnixSignals \
            Yams
            """),
        module("Conformance", "Concurrency GatewayKit Vitals"),
        module("GatewayTesting", "Concurrency GatewayKit Vitals Logging"),
        module(
            "GatewayMain",
            "BundledPlugins Concurrency Conformance Exec Gateway GatewayKit Link Vitals ArgumentParser Logging"),
        program("vitals2mqtt", "GatewayMain"),
        .target(
            name: "BundledPlugins",
            dependencies: ["GatewayKit"] + plugins.map { bundled($0[0].name) },
            path: "Plugins", exclude: plugins.map { $0[0].name } + ["Examples"], sources: ["BundledPlugins.swift"],
            swiftSettings: settings),
        module(
            "TestSupport",
            """
            Concurrency Conformance GatewayKit GatewayTesting JSON MQTT Store Vitals Logging Subprocess SystemPackage
            """, in: "Tests/Support"),
        module(
            "GatewaySimulation",
            """
            Contract Delivery Engines Gateway GatewayKit GatewayTesting JSON MQTT Store TestSupport Vitals Logging
            """, in: "Tests/Simulation/GatewaySimulation"),
        program("vitals2mqtt-simulate", "GatewaySimulation Vitals ArgumentParser", in: "Tests/Simulation/Program"),
        program("vitals2mqtt-bench", "CMosquitto JSON ArgumentParser GRDB", in: "Tests/Benchmarks/Program"),
        // A simulated wearable as its own program, for tests that need the other end of a link.
        program(
            "link-wearable",
            """
            Conformance GatewayKit GatewayTesting Simulator TestSupport Vitals UnixSignals
            """, in: "Tests/LinkWearable"),
        tests("ArchitectureTests"),
        tests("BenchTests", "Contract JSON MQTT Vitals vitals2mqtt-bench"),
        tests("ConcurrencyTests", "Concurrency GatewayKit GatewayTesting TestSupport Vitals"),
        tests(
            "ConformanceTests",
            """
            Concurrency Conformance Exec GatewayKit GatewayTesting JSON Link link-wearable TCP TestSupport Vitals \
            Logging NIOCore NIOPosix
            """),
        tests("ContractTests", "Contract JSON MQTT TestSupport Vitals"),
        tests(
            "DeliveryTests",
            """
            Concurrency Contract Delivery GatewayKit GatewayTesting HomeAssistant JSON Mosquitto MQTT TestSupport \
            Vitals Logging
            """),
        tests("EnginesTests", "Concurrency Engines GatewayKit GatewayTesting TestSupport Vitals Logging"),
        tests("GatewayKitTests", "GatewayKit GatewayTesting TestSupport Vitals Logging"),
        tests("GatewayMainTests", "GatewayKit GatewayMain Link Logging"),
        tests(
            "GatewayTests",
            """
            BundledPlugins Concurrency Contract Delivery Engines Gateway GatewayKit GatewayTesting HomeAssistant JSON \
            Listening Mosquitto MQTT Recordings Store TestSupport Vitals vitals2mqtt Web GRDB Logging \
            ServiceLifecycle Subprocess SystemPackage
            """),
        tests(
            "HomeAssistantTests",
            """
            Concurrency Contract GatewayKit GatewayTesting HomeAssistant HomeAssistantStatistics JSON MQTT Store \
            TestSupport Vitals Logging NIOCore NIOHTTP1 NIOPosix NIOWebSocket
            """),
        tests(
            "IntegrationTests",
            "Concurrency GatewayTesting JSON Mosquitto MQTT TestSupport Vitals vitals2mqtt Logging"),
        tests("ListeningTests", "GatewayKit GatewayTesting Listening TestSupport Vitals NIOCore NIOPosix"),
        tests("MQTTTests", "GatewayKit GatewayTesting Mosquitto MQTT TestSupport Vitals Logging"),
        tests(
            "SimulationTests",
            """
            ColmiRing Concurrency Contract Delivery Engines Gateway GatewayKit GatewaySimulation GatewayTesting \
            GATTHealth HomeAssistant JSON Link MQTT O2Ring Simulator Store TestSupport Vitals vitals2mqtt-simulate \
            ArgumentParser Logging
            """),
        tests("StoreTests", "Concurrency Engines Store TestSupport Vitals GRDB"),
        tests("VitalsTests", "Vitals"),
        tests(
            "WebTests",
            """
            Concurrency Contract GatewayKit GatewayTesting JSON Listening TestSupport Vitals Web CoreMetrics HTTPTypes \
            Logging MetricsTestKit NIOCore NIOEmbedded NIOHTTPTypes NIOPosix Subprocess
            """),
    ] + plugins.joined()
)

// Only `Tests/Fuzz/run` builds the fuzzers, as a library, since libFuzzer brings the main program. Its table is `Tests/Fuzz`; it shares the
// files with what must hold with the tests, which are left out then: a file belongs to one target.
if Context.environment["VITALS2MQTT_FUZZERS"] != nil {
    package.products = [.library(name: "Fuzzers", type: .static, targets: ["Fuzzers"])]
    package.targets = package.targets.filter { $0.type != .test }
    package.targets.append(
        .target(
            name: "Fuzzers",
            dependencies: dependencies(
                """
                ColmiRing Contract GATTHealth GatewayKit JSON Link MQTT O2Ring Phones Recordings Vitals \
                Logging
                """),
            path: ".",
            sources: [
                "Tests/Fuzz/Fuzzers.swift", "Tests/ContractTests/CommandInput.swift",
                "Tests/ContractTests/Examples.swift", "Plugins/Replay/Tests/Recordings/RecordingInput.swift",
                "Plugins/Phones/Tests/Exports/Support/ExportViolations.swift",
            ]
                + [
                    "ColmiRing/Tests/Ring", "GATTHealth/Tests/Characteristic", "Link/Tests/Link", "O2Ring/Tests/Oxi",
                    "Phones/Tests/Exports/FIT/FIT", "Phones/Tests/Exports/Gadgetbridge/Export",
                    "Phones/Tests/Exports/Gadgetbridge/Record", "Phones/Tests/Exports/HealthConnect/HealthConnect",
                    "Phones/Tests/Document",
                ].map { "Plugins/\($0)Input.swift" },
            swiftSettings: settings))
}

// Only `deploy/test --threads` and `--addresses` build this part of the package, with the sanitizer of that name: the suites that
// wait, lock, or touch memory by its address, with what they need, so that the build takes minutes.
if let sanitizer = Context.environment["VITALS2MQTT_SANITIZER"] {
    package.products = []
    for target in package.targets {
        guard let files = unsanitized[target.name] else { continue }
        target.exclude += files
        target.dependencies.removeAll {
            if case .targetItem(let name, _) = $0 { ["BundledPlugins", "vitals2mqtt"].contains(name) } else { false }
        }
    }
    // Others by hand, such as PhonesTests: `SANITIZED_SUITES="PhonesTests" deploy/test --threads`.
    let suites = Context.environment["SANITIZED_SUITES"]?.split(separator: " ").map(String.init)
    package.targets = package.targets.needed(for: suites ?? sanitizedSuites)
    if sanitizer == "thread" {
        let locks = "SanitizedLocks"
        for target in package.targets where target.type != .system { target.plugins = [.plugin(name: locks)] }
        package.targets.append(
            .plugin(name: locks, capability: .buildTool(), path: "Tests/ConcurrencyTests/Sanitizer/Plugin"))
    }
}

/// A library of the system, whose module map is in `Sources/System/<name>`.
func system(_ name: String, pkgConfig: String? = nil, package: String? = nil) -> Target {
    .systemLibrary(
        name: name, path: "Sources/System/\(name)", pkgConfig: pkgConfig, providers: package.map { [.apt([$0])] })
}

/// A module of the gateway, in `Sources/<name>`, or one of its tests in another folder.
func module(_ name: String, _ names: String = "", in folder: String? = nil) -> Target {
    .target(
        name: name, dependencies: dependencies(names), path: folder,
        resources: (embedded[name] ?? []).map { .embedInCode($0) },
        swiftSettings: settings + (computing.contains(name) ? optimised : []))
}

/// A program, in `Sources/<name>` or another folder.
func program(_ name: String, _ names: String, in folder: String? = nil) -> Target {
    .executableTarget(name: name, dependencies: dependencies(names), path: folder, swiftSettings: settings)
}

/// The tests of a module, in `Tests/<name>`. Fixtures are read from the source folder, not bundled.
func tests(_ name: String, _ names: String = "") -> Target {
    .testTarget(
        name: name, dependencies: dependencies(names), exclude: fixtures[name] ?? [], swiftSettings: settings)
}

/// A plugin, `Plugins/<name>/Sources`, and its tests beside it, with what each needs beyond `GatewayKit` and `Vitals`.
func plugin(_ name: String, _ names: String, tests: String) -> [Target] {
    [
        .target(
            name: name, dependencies: dependencies("GatewayKit Vitals " + names),
            path: "Plugins/\(name)/Sources", resources: (samples[name] ?? ["sample.yaml"]).map { .embedInCode($0) },
            swiftSettings: settings),
        .testTarget(
            name: "\(name)Tests", dependencies: dependencies("\(name) GatewayKit Vitals " + tests),
            path: "Plugins/\(name)/Tests", exclude: fixtures["\(name)Tests"] ?? [], swiftSettings: settings),
    ]
}

/// The dependency on a plugin of the program that has them all.
func bundled(_ name: String) -> Target.Dependency {
    optionalPlugins[name].map { .target(name: name, condition: .when(traits: [$0])) } ?? .target(name: name)
}

/// Targets of this package and products of others, by their names.
func dependencies(_ names: String) -> [Target.Dependency] {
    names.split(separator: " ").map { name in
        let package = products.first { $0.value.split(separator: " ").contains(name) }?.key
        return package.map { .product(name: String(name), package: $0) } ?? .target(name: String(name))
    }
}

extension [Target] {
    /// These targets and all that they depend on.
    func needed(for names: [String]) -> [Target] {
        var needed = Set(names)
        var waiting = names
        while let name = waiting.popLast() {
            for case .targetItem(let dependency, _) in first(where: { $0.name == name })?.dependencies ?? []
            where needed.insert(dependency).inserted {
                waiting.append(dependency)
            }
        }
        return filter { needed.contains($0.name) }
    }
}
