import Testing

/// Which modules may import what: the table of the architecture page.
@Suite struct ImportRules {
    private static let ours: Set<String> = [
        "BundledPlugins", "CMosquitto", "Contract", "Engines", "Gateway", "GatewayKit", "GatewayTesting",
        "HomeAssistant", "JSON", "MQTT", "Store", "Vitals",
    ]

    /// Of our own modules, what each may import.
    private static let arrows: [String: Set<String>] = [
        "JSON": [], "Vitals": [], "GatewayKit": ["Vitals"], "Engines": ["GatewayKit", "Vitals"],
        "Store": ["Engines", "JSON", "Vitals"], "Contract": ["JSON", "Vitals"], "MQTT": ["CMosquitto"],
        "HomeAssistant": ["Contract", "JSON", "Vitals"],
        "Gateway": [
            "Contract", "Engines", "GatewayKit", "HomeAssistant", "JSON", "MQTT", "Store", "Vitals",
        ],
        "GatewayTesting": ["Contract", "Engines", "GatewayKit", "JSON", "MQTT", "Store", "Vitals"],
        "vitals2mqtt": ["BundledPlugins", "Gateway"],
        // The benchmark sees the gateway from outside only; the bare loops are what it is compared with.
        "vitals2mqtt-bench": ["CMosquitto", "JSON"],
    ]

    /// Libraries of others that only some modules may know, each with the reason in the architecture page.
    private static let owners: [String: Set<String>] = [
        "GRDB": ["Store", "vitals2mqtt-bench"], "CMosquitto": ["MQTT", "vitals2mqtt-bench"], "Yams": ["Gateway"],
        "Subprocess": ["Exec", "GatewayTesting"], "NIOCore": ["TCP"], "NIOPosix": ["TCP"],
        "ArgumentParser": ["vitals2mqtt", "vitals2mqtt-bench"],
    ]

    @Test(arguments: arrows.keys.sorted()) func `a module imports only what is below it`(module: String) throws {
        let files = try Repository.swiftFiles(in: "Sources/\(module)")
        #expect(!files.isEmpty)
        for file in files {
            let forbidden = file.imports.intersection(Self.ours).subtracting(Self.arrows[module] ?? [])
            #expect(forbidden.isEmpty, "\(file) imports \(forbidden.sorted())")
        }
    }

    @Test func `every module of ours is in the table`() throws {
        let folders = try Repository.folders(in: "Sources")
        #expect(Set(folders) == Set(Self.arrows.keys).union(["CMosquitto"]))
    }

    @Test func `a plugin knows only the interface and the values`() throws {
        for plugin in try Repository.folders(in: "Plugins") {
            for file in try Repository.swiftFiles(in: "Plugins/\(plugin)/Sources") {
                let forbidden = file.imports.intersection(Self.ours).subtracting(["GatewayKit", "Vitals", "JSON"])
                #expect(forbidden.isEmpty, "\(file) imports \(forbidden.sorted())")
            }
        }
    }

    @Test func `a library is known only where it belongs`() throws {
        var files: [(module: String, file: Repository.File)] = []
        for module in Self.arrows.keys {
            files += try Repository.swiftFiles(in: "Sources/\(module)").map { (module, $0) }
        }
        for plugin in try Repository.folders(in: "Plugins") {
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
        #expect(file.imports.isSuperset(of: ["A", "B", "C"]))
        #expect(!file.imports.contains("E"))
    }
}
