import Testing

/// The folders of `Plugins/` and the two lists that name them.
@Suite struct PluginLists {
    @Test func `every plugin stands in both lists`() throws {
        let manifest = try Repository.text("Package.swift")
        let bundle = try Repository.text("Plugins/BundledPlugins.swift")
        for plugin in try Repository.folders(in: "Plugins") {
            #expect(
                manifest.contains("(\"\(plugin)\", ["), "add (\"\(plugin)\", []) to `plugins` in Package.swift")
            #expect(
                bundle.contains("\(plugin)Plugin.self"),
                "add import \(plugin) and \(plugin)Plugin.self to Plugins/BundledPlugins.swift")
        }
    }

    @Test func `every plugin explains itself in the same sections`() throws {
        let sections = ["## What", "## Devices", "## Configuration", "## Limits", "## How it was tested"]
        for plugin in try Repository.folders(in: "Plugins") {
            let readme = try Repository.text("Plugins/\(plugin)/README.md")
            for section in sections {
                #expect(readme.contains(section), "Plugins/\(plugin)/README.md has no section \(section)")
            }
            #expect(try !Repository.text("Plugins/\(plugin)/sample.yaml").isEmpty)
        }
    }
}
