import Testing

/// The rules for every file.
@Suite struct FileRules {
    /// A longer file mixes several ideas.
    private static let maximumLines = 500

    /// The only file that a program has written: `Plugins/ESPHome/api.proto` says how.
    private static let generated = "Plugins/ESPHome/Sources/Wire/api.pb.swift"

    private static func allFiles() throws -> [Repository.File] {
        try ["Sources", "Plugins", "Tests"].flatMap { try Repository.swiftFiles(in: $0) }.filter {
            $0.path != generated
        }
    }

    @Test func `what is generated is there, and says so`() throws {
        let file = try #require(try Repository.swiftFiles(in: "Plugins").first { $0.path == Self.generated })
        #expect(file.text.hasPrefix("// DO NOT EDIT."))
        #expect(try Repository.text("Plugins/ESPHome/api.proto").contains("protoc --swift_out="))
    }

    @Test func `a file has one idea and stays under five hundred lines`() throws {
        for file in try Self.allFiles() {
            #expect(file.lines.count <= Self.maximumLines, "\(file) has \(file.lines.count) lines: split its idea")
        }
    }

    /// A shorter file is no idea of its own, unless several others need it.
    private static let leastLines = 40
    /// What a list names has a file of its own, however short.
    private static let listed = ["Plugin", "Driver", "Transport", "Command", "Profile"]
    /// Parts of the device's agent; `AgentRules` reads each in a file of its own.
    private static let parts: Set = ["TickTimer"]

    /// The module or package of a file: its two first folders.
    private static func module(_ file: Repository.File) -> [Substring] {
        Array(file.path.split(separator: "/").prefix(2))
    }

    /// The words of a file's code.
    private static func words(of file: Repository.File) -> Set<Substring> {
        Set(
            file.lines.filter { !$0.drop { $0 == " " }.hasPrefix("//") }
                .flatMap { $0.split { !$0.isLetter && !$0.isNumber && $0 != "_" } })
    }

    /// The types that a file declares outside of others.
    private static func types(of file: Repository.File) -> [Substring] {
        let declaration = #/(?m)^(?:(?:public|package|final|indirect) )*(?:struct|class|enum|actor|protocol) (\w+)/#
        return file.text.matches(of: declaration).map(\.1)
    }

    @Test func `a short file does not stand beside its only user`() throws {
        let files = try ["Sources", "Plugins"].flatMap { try Repository.swiftFiles(in: $0) }
            .filter { !$0.path.contains("/Tests/") }
        let words = files.map { Self.words(of: $0) }
        for file in files where file.text.count(where: \.isNewline) < Self.leastLines {
            let types = Self.types(of: file)
            guard !types.isEmpty, !types.contains(where: { Self.parts.contains(String($0)) }),
                !types.contains(where: { type in Self.listed.contains { type.hasSuffix($0) } })
            else { continue }
            let users = zip(files, words).filter { other, words in
                other.path != file.path && types.contains { words.contains($0) }
            }
            guard let user = users.first?.0, users.count == 1, Self.module(user) == Self.module(file) else { continue }
            Issue.record("\(file) has one user: join it with \(user)")
        }
    }

    @Test func `no file is named after a drawer`() throws {
        let drawers = ["Utils", "Utilities", "Helpers", "Helper", "Common", "Misc", "Manager"]
        for file in try Self.allFiles() {
            let name = file.path.split(separator: "/").last.map { String($0.dropLast(6)) } ?? ""
            #expect(!drawers.contains { name.hasSuffix($0) }, "\(file): name it after what it does")
        }
    }

    @Test func `shipped code does not trap on purpose, and tests do not sleep`() throws {
        let traps = ["fatalError(", "try!", "Task.detached", "preconditionFailure("]
        for file in try Repository.sources() {
            for line in file.lines where !line.contains("//") {
                #expect(!traps.contains { line.contains($0) }, "\(file): \(line)")
            }
        }
        let sleeps = ["Task.sleep", "usleep(", "Thread.sleep", "sleep(forTimeInterval"]
        for file in try Repository.swiftFiles(in: "Tests")
        where !["ArchitectureTests", "Tests/Support"].contains(where: file.path.contains) {
            for line in file.lines { #expect(!sleeps.contains { line.contains($0) }, "\(file): \(line)") }
        }
    }

    @Test func `a function says what it does by a verb of the field`() throws {
        // One word for many things, or a riddle.
        let words: Set = [
            "take", "keep", "keeps", "bring", "heard", "bury", "look", "see", "tell", "told", "give", "stand", "goOn",
        ]
        for file in try Repository.sources()
        where !file.path.contains("/Tests/") {
            for match in file.text.matches(of: /func (\w+)[(<]/) {
                #expect(!words.contains(String(match.1)), "\(file): \(match.0)")
            }
        }
    }

    @Test func `only streams and readers are finished`() throws {
        // As in `AsyncStream`: nothing more comes after it. `ConfigurationReader` is public, and has nothing more to read then.
        let closing: Set = [
            "BytePipe", "ConfigurationReader", "EventInbox", "GATTValueQueue", "TaskLauncher", "Mailbox",
            "MessageBuffer",
            "ReceiveBuffer", "ScriptedSession",
        ]
        for file in try Repository.sources()
        where !file.path.contains("/Tests/") && file.text.contains(/func finish[(<]/) {
            let name = file.path.split(separator: "/").last.map { String($0.dropLast(6)) } ?? ""
            #expect(closing.contains(name), "\(file): name it by what it does")
        }
    }

    @Test func `every task is the child of another`() throws {
        // So a run that has returned has left no task behind. Test support and packages of others may differ.
        let files = try Repository.sources()
        for file in files
        where !["/Tests/", "Sources/GatewayTesting/", "Tests/Support/", "Plugins/Examples/"].contains(
            where: file.path.contains)
        {
            for line in file.lines where !line.contains("//") {
                #expect(line.firstMatch(of: /\bTask(\.detached)? ?(<[^>]*>)?[({]/) == nil, "\(file): \(line)")
            }
        }
    }

    @Test func `what steps around the compiler's checks says why it is right`() throws {
        let marks = ["@unchecked Sendable", "nonisolated(unsafe)"]
        for file in try Repository.sources() {
            for (index, line) in file.lines.enumerated() where marks.contains(where: { line.contains($0) }) {
                let before = file.lines[max(0, index - 6)...index]
                #expect(before.contains { $0.contains("//") }, "\(file):\(index + 1) has no comment")
            }
        }
    }
}
