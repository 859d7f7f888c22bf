import Testing

/// The allowed imports: the table of the architecture page.
@Suite struct ImportRules {
    private static let modules: Set<String> = [
        "BundledPlugins", "CCrypt", "CExpat", "CMosquitto", "CQREncode", "CSDBus", "CTimex", "CZlib", "Concurrency",
        "Conformance", "Contract",
        "Delivery", "Engines", "Gateway",
        "GatewayKit", "GatewayMain", "GatewaySimulation", "GatewayTesting", "HomeAssistant", "TestSupport",
        "HomeAssistantStatistics", "JSON", "MQTT", "Mosquitto",
        "Listening", "Recordings", "Store",
        "Vitals", "Web",
    ]

    /// The project's own modules with the plugins.
    private static func ours() throws -> Set<String> { modules.union(try Repository.plugins()) }

    /// The project's own modules that each module may import.
    private static let arrows: [String: Set<String>] = [
        "Concurrency": [], "JSON": [], "Vitals": [],
        "GatewayKit": ["Concurrency", "Vitals"],
        "Listening": ["Concurrency", "GatewayKit", "Vitals"],
        "Web": [
            "CCrypt", "CQREncode", "CZlib", "Concurrency", "Contract", "GatewayKit", "JSON", "Listening", "Vitals",
        ],
        "Recordings": ["GatewayKit", "JSON", "Vitals"],
        "Engines": ["Concurrency", "GatewayKit", "Vitals"],
        "Store": ["Concurrency", "JSON", "Vitals"], "Contract": ["JSON", "MQTT", "Vitals"],
        "MQTT": ["Concurrency"], "Mosquitto": ["CMosquitto", "Concurrency", "MQTT"],
        "HomeAssistant": ["Contract", "JSON", "MQTT", "Vitals"],
        "HomeAssistantStatistics": ["Concurrency", "HomeAssistant", "JSON", "Vitals"],
        "Delivery": ["Concurrency", "Contract", "HomeAssistant", "MQTT", "Vitals"],
        "Gateway": [
            "CTimex", "Concurrency", "Contract", "Delivery", "Engines", "GatewayKit", "HomeAssistant",
            "HomeAssistantStatistics", "JSON", "Listening", "MQTT", "Mosquitto", "Recordings",
            "Store", "Vitals", "Web",
        ],
        "Conformance": ["Concurrency", "GatewayKit", "Vitals"],
        // Its check of programs starts one, and speaks Vitals Link with it.
        "GatewayMain": [
            "BundledPlugins", "Concurrency", "Conformance", "Exec", "Gateway", "GatewayKit", "Link", "Vitals",
        ],
        "GatewayTesting": ["Concurrency", "GatewayKit", "Vitals"],
        "TestSupport": [
            "Concurrency", "Conformance", "GatewayKit", "GatewayTesting", "JSON", "MQTT", "Store",
            "Vitals",
        ],
        "GatewaySimulation": [
            "Contract", "Delivery", "Engines", "Gateway", "GatewayKit", "GatewayTesting", "JSON", "MQTT", "Store",
            "TestSupport", "Vitals",
        ],
        "vitals2mqtt": ["GatewayMain"], "vitals2mqtt-simulate": ["GatewaySimulation", "Vitals"],
        // The benchmark sees the gateway only from outside; it needs these for the bare loops that it compares with.
        "vitals2mqtt-bench": ["CMosquitto", "JSON"],
    ]

    /// External libraries that only some modules may import; the architecture page gives the reasons.
    private static let owners: [String: Set<String>] = [
        "GRDB": ["Store", "vitals2mqtt-bench"], "GRDBSQLite": ["Phones", "Store"], "CTimex": ["Gateway"],
        "CCrypt": ["Web"], "CQREncode": ["Web"], "CZlib": ["Phones", "Web"], "CExpat": ["Phones"], "Mustache": ["Web"],
        "CMosquitto": ["Mosquitto", "vitals2mqtt-bench"], "CSDBus": ["BlueZ"], "Yams": ["Gateway"],
        "Subprocess": ["Exec", "TestSupport"],
        "Crypto": ["ESPHome"], "SwiftProtobuf": ["ESPHome"],
        "NIOCore": ["ESPHome", "HomeAssistantStatistics", "Listening", "TCP", "Web"],
        "NIOPosix": ["ESPHome", "HomeAssistantStatistics", "TCP", "Web"],
        "NIOSSL": ["HomeAssistantStatistics", "Listening", "TCP", "Web"], "NIOHTTP1": ["HomeAssistantStatistics"],
        "NIOWebSocket": ["HomeAssistantStatistics"],
        "HummingbirdCore": ["Web"], "HummingbirdTLS": ["Web"], "HTTPTypes": ["Web"],
        "ArgumentParser": ["GatewayMain", "vitals2mqtt-bench", "vitals2mqtt-simulate"],
    ]

    /// The folders of the modules that do not ship; the others are in `Sources`.
    private static let folders = [
        "GatewaySimulation": "Tests/Simulation/GatewaySimulation",
        "TestSupport": "Tests/Support", "vitals2mqtt-bench": "Tests/Benchmarks/Program",
        "vitals2mqtt-simulate": "Tests/Simulation/Program",
    ]

    private static func files(of module: String) throws -> [Repository.File] {
        try Repository.swiftFiles(in: folders[module] ?? "Sources/\(module)")
    }

    @Test(arguments: arrows.keys.sorted()) func `a module imports only what is below it`(module: String) throws {
        let files = try Self.files(of: module)
        #expect(!files.isEmpty)
        for file in files {
            let forbidden = file.imports.intersection(try Self.ours()).subtracting(Self.arrows[module] ?? [])
            #expect(forbidden.isEmpty, "\(file) imports \(forbidden.sorted())")
        }
    }

    @Test func `the page of the architecture says the same`() throws {
        let page = try Repository.text("docs/Architecture.md")
        var rows: [String: Set<String>] = [:]
        for match in page.matches(of: /(?m)^\| `([\w-]+)` \| .* \| (.*) \|$/) where Self.arrows[String(match.1)] != nil
        {
            rows[String(match.1)] = Set(match.2.matches(of: /`([\w-]+)`/).map { String($0.1) })
        }
        // The list has the system's libraries by their own names.
        let libraries: Set = ["CCrypt", "CMosquitto", "CQREncode", "CSDBus", "CTimex", "CZlib"]
        for (module, known) in Self.arrows { #expect(rows[module] == known.subtracting(libraries), "\(module)") }
    }

    @Test func `every module of ours is in the table`() throws {
        let folders = try Repository.folders(in: "Sources")
        let elsewhere = Set(Self.folders.keys)
        #expect(
            Set(folders)
                == Set(Self.arrows.keys).subtracting(elsewhere).union(["System"]))
        #expect(Set(Self.arrows.keys).isSuperset(of: elsewhere))
    }

    @Test func `a plugin knows only the interface and the values`() throws {
        for plugin in try Repository.plugins() {
            for file in try Repository.swiftFiles(in: "Plugins/\(plugin)/Sources") {
                let forbidden = file.imports.intersection(try Self.ours()).subtracting([
                    "CExpat", "CSDBus", "CZlib", "Concurrency", "GatewayKit", "JSON", "Listening",
                    "Recordings", "Vitals",
                ])
                #expect(forbidden.isEmpty, "\(file) imports \(forbidden.sorted())")
            }
        }
    }

    @Test func `the list of the plugins knows them and the interface`() throws {
        let file = Repository.File(
            path: "Plugins/BundledPlugins.swift", text: try Repository.text("Plugins/BundledPlugins.swift"))
        #expect(file.imports == Set(try Repository.plugins()).union(["GatewayKit"]))
    }

    @Test func `what tests a driver or runs in the gateway needs no framework for tests`() throws {
        for module in Self.arrows.keys {
            for file in try Self.files(of: module) {
                #expect(!file.imports.contains("Testing") && !file.imports.contains("XCTest"), "\(file)")
            }
        }
    }

    @Test func `a library is known only where it belongs`() throws {
        var files: [(module: String, file: Repository.File)] = []
        for module in Self.arrows.keys {
            files += try Self.files(of: module).map { (module, $0) }
        }
        for plugin in try Repository.plugins() {
            files += try Repository.swiftFiles(in: "Plugins/\(plugin)/Sources").map { (plugin, $0) }
        }
        for (module, file) in files {
            for library in file.imports {
                guard let owners = Self.owners[library] else { continue }
                #expect(owners.contains(module), "\(file) imports \(library)")
            }
        }
    }

    @Test func `the parser of this test sees every form of an import`() {
        let file = Repository.File(
            path: "x",
            text: """
                import A
                public import B
                @testable package import C
                internal import struct D.Thing
                // import E
                """)
        #expect(file.imports == ["A", "B", "C", "D"])
    }
}
