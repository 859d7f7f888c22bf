import Testing

/// Checks that there is one type of outbox entry and one type of message to the broker, and that the engines know
/// neither.
@Suite struct EntryRules {
    private static let entry = "OutboxEntry"
    private static let message = "OutgoingMessage"
    /// A former second type of message. Its name is split so that it does not occur here, either.
    private static let formerMessage = "Outbound" + "Message"

    /// The modules that create, store, pass on or send entries.
    private static let modulesWithEntries: Set<String> = [
        "Vitals", "Store", "Delivery", "Gateway",
    ]
    /// The modules that only see committed entries.
    private static let behindCommit: Set<String> = ["Delivery", "Contract", "MQTT", "Mosquitto"]
    private static let types: Set<Substring> = ["struct", "class", "enum", "actor", "protocol", "typealias"]

    /// The words of a line that may be identifiers.
    private static func words(of line: Substring) -> [Substring] {
        line.split { !($0.isLetter || $0.isNumber || $0 == "_") }
    }

    /// The keyword with which a line declares a type of this name; `nil` if it declares none.
    private static func declaration(of name: String, in line: Substring) -> Substring? {
        guard line.first(where: { $0 != " " }) != "/" else { return nil }
        let words = words(of: line)
        return zip(words, words.dropFirst()).first { types.contains($0.0) && $0.1 == name }?.0
    }

    /// The declarations of a type in `Sources` and `Plugins`, each as its keyword and file.
    private static func declarations(of name: String) throws -> [String] {
        let files = try Repository.sources()
        var found: [String] = []
        for file in files {
            for line in file.lines {
                if let keyword = declaration(of: name, in: line) { found.append("\(keyword) \(file.path)") }
            }
        }
        return found
    }

    private static func mentions(_ name: String, in file: Repository.File) -> Bool {
        file.lines.contains { line in line.contains(name) && words(of: line).contains { $0 == name } }
    }

    @Test func `there is one type of entry`() throws {
        let found = try Self.declarations(of: Self.entry)
        #expect(found == ["enum Sources/Vitals/Storage/OutboxStore.swift"])
    }

    @Test func `only the store, delivery and what puts them together know entries`() throws {
        var found: Set<String> = []
        for module in try Repository.folders(in: "Sources") {
            for file in try Repository.swiftFiles(in: "Sources/\(module)") where Self.mentions(Self.entry, in: file) {
                found.insert(module)
                #expect(Self.modulesWithEntries.contains(module), "\(file) knows entries of the outbox")
            }
        }
        #expect(found.isSuperset(of: ["Vitals", "Store", "Delivery"]))
        for file in try Repository.swiftFiles(in: "Plugins") {
            #expect(!Self.mentions(Self.entry, in: file), "\(file) knows entries of the outbox")
        }
    }

    @Test func `the engines know nothing of what is behind a commit`() throws {
        let files = try Repository.swiftFiles(in: "Sources/Engines")
        #expect(files.count > 30)
        #expect(files.contains { $0.text.contains("DeviceStore") || $0.text.contains("OutboxStore") })
        for file in files {
            let known = file.imports.intersection(Self.behindCommit)
            #expect(known.isEmpty, "\(file) imports \(known.sorted())")
        }
    }

    @Test func `delivery knows nothing of the engines`() throws {
        let files = try Repository.swiftFiles(in: "Sources/Delivery")
        #expect(files.contains { $0.text.contains("DeviceStore") || $0.text.contains("OutboxStore") })
        for file in files { #expect(!file.imports.contains("Engines"), "\(file) imports the engines") }
    }

    @Test func `there is one type of message to the broker`() throws {
        let found = try Self.declarations(of: Self.message)
        #expect(found == ["struct Sources/MQTT/Messages/OutgoingMessage.swift"])
        let files = try ["Sources", "Plugins", "Tests"].flatMap { try Repository.swiftFiles(in: $0) }
        #expect(files.contains { $0.text.contains(Self.message) && $0.path.hasPrefix("Tests/") })
        for file in files { #expect(!file.text.contains(Self.formerMessage), "\(file) names \(Self.formerMessage)") }
    }

    @Test func `a second type would be seen`() {
        let lines: [Substring] = [
            "package struct OutboxEntry: Sendable {", "    private enum OutboxEntry {", "typealias OutboxEntry = Fact",
        ]
        for line in lines { #expect(Self.declaration(of: Self.entry, in: line) != nil, "\(line)") }
        let others: [Substring] = [
            "extension OutboxEntry {", "/// struct OutboxEntry", "struct OutboxEntryList {", "var next: OutboxEntry?",
        ]
        for line in others { #expect(Self.declaration(of: Self.entry, in: line) == nil, "\(line)") }
        #expect(Self.mentions(Self.entry, in: Repository.File(path: "x", text: "let a: [OutboxEntry] = []")))
        #expect(!Self.mentions(Self.entry, in: Repository.File(path: "x", text: "let a: [OutboxEntryList] = []")))
    }
}
