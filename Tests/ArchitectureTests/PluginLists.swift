import Testing

/// Checks the folders of `Plugins/` against the two lists that name them.
@Suite struct PluginLists {
    @Test func `every plugin stands in both lists`() throws {
        let manifest = try Repository.text("Package.swift")
        let bundle = try Repository.text("Plugins/BundledPlugins.swift")
        for plugin in try Repository.plugins() {
            #expect(
                manifest.contains("\"\(plugin)\","),
                "add plugin(\"\(plugin)\", \"\", tests: \"\") to `plugins` in Package.swift")
            // Mostly one, of the folder's name.
            let types = try Repository.swiftFiles(in: "Plugins/\(plugin)/Sources").flatMap { file in
                file.text.matches(of: /(?:enum|struct) (\w+): Plugin \{/).map { $0.1 }
            }
            #expect(!types.isEmpty, "Plugins/\(plugin) has no enum …: Plugin")
            for type in types {
                #expect(
                    bundle.contains("\(type).self"),
                    "add import \(plugin) and \(type).self to Plugins/BundledPlugins.swift")
            }
        }
    }

    @Test func `every plugin explains itself in the same sections`() throws {
        let sections = ["## What", "## Devices", "## Configuration", "## Limits", "## How it was tested"]
        let examples = try Repository.folders(in: "Plugins/Examples").map { "Examples/\($0)" }
        #expect(!examples.isEmpty)
        for plugin in try Repository.plugins() + examples {
            let readme = try Repository.text("Plugins/\(plugin)/README.md")
            for section in sections {
                #expect(readme.contains(section), "Plugins/\(plugin)/README.md has no section \(section)")
            }
        }
        for plugin in try Repository.plugins() {
            #expect(try !Repository.files(in: "Plugins/\(plugin)/Sources", withExtension: "yaml").isEmpty)
        }
    }

    @Test func `the page for authors shows the example as it is`() throws {
        let page = try Repository.text("docs/WritingAPlugin.md")
        let example = try Repository.swiftFiles(in: "Plugins/Examples/Pulse").map(\.text).joined(separator: "\n")
        let blocks = page.matches(of: /```swift\n([\s\S]*?)\n```/).map { String($0.1) }
        #expect(blocks.count > 4)
        // The page only outlines a transport.
        for block in blocks where !block.contains("SerialPort") {
            #expect(example.contains(block), "the example has no \(block)")
        }
    }
}
