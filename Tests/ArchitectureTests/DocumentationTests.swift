import Foundation
import Testing

/// Checks that the pages are complete and correct.
@Suite struct DocumentationTests {
    private static let catalog = "docs"

    /// All pages of the contract as one text.
    private static func contract() throws -> String {
        try Repository.files(in: catalog, withExtension: "md")
            .filter { $0.path.contains("/Contract") || $0.path.hasSuffix("/HomeAssistant.md") }
            .map(\.text).joined(separator: "\n")
    }

    private static func pages() throws -> [Repository.File] {
        try Repository.files(in: "", withExtension: "md")
    }

    @Test func `every link of a page leads somewhere`() throws {
        let pages = try Self.pages()
        #expect(pages.count > 10)
        for page in pages {
            for link in page.text.links where !link.contains("://") && !link.hasPrefix("#") {
                let target = link.split(separator: "#").first.map(String.init) ?? ""
                #expect(Repository.exists(target, besides: page.path), "\(page) links to \(link)")
            }
        }
    }

    @Test func `every page of the catalog is linked from its root, and no other`() throws {
        let root = try Repository.text("\(Self.catalog)/README.md")
        let names = Set(root.matches(of: /\]\(([A-Za-z]+)\.md\)/).map { String($0.1) })
        let pages = try Repository.files(in: Self.catalog, withExtension: "md").compactMap {
            $0.path.split(separator: "/").last.map { String($0.dropLast(3)) }
        }
        #expect(names == Set(pages).subtracting(["README"]))
    }

    @Test func `no page names a file that does not exist`() throws {
        let roots = ["Sources/", "Plugins/", "Tests/", "deploy/", "docs/", ".ci/", ".github/"]
        for page in try Self.pages() {
            for match in page.text.matches(of: /`([A-Za-z0-9_.+\/-]+)`/) {
                let path = String(match.1)
                guard roots.contains(where: { path.hasPrefix($0) }) else { continue }
                #expect(
                    Repository.exists(path, besides: nil) || Repository.exists(path, besides: page.path),
                    "\(page) names \(path)")
            }
        }
    }

    @Test func `the contract has every topic`() throws {
        let contract = try Self.contract()
        let builder = try Repository.text("Sources/Contract/Topics/ContractTopics.swift")
        let topics = builder.matches(of: /: "\\\(root\)\/([^"]+)"/).map { String($0.1) }
        #expect(topics.count > 20)
        for topic in topics {
            var wanted = topic.replacingOccurrences(of: "\\(device.text)", with: "D")
            if wanted.hasPrefix("gateway/") { wanted = "B/" + wanted }
            for (code, name) in [
                ("\\(metric.rawValue)", "<metric>"), ("\\(rule.name)", "<rule>"), ("\\(name)", "<name>"),
                ("\\(day)", "<YYYY-MM-DD>"),
            ] { wanted = wanted.replacingOccurrences(of: code, with: name) }
            #expect(contract.contains("`\(wanted)`"), "the contract has no \(wanted)")
        }
    }

    @Test(arguments: [
        ("Sources/Vitals/Commands/Answer.swift", "AnswerCode"),
        ("Sources/Vitals/Commands/Answer.swift", "Status"), ("Sources/Vitals/Facts/Fact.swift", "Reason"),
        ("Sources/Vitals/Samples/Refusals.swift", "RefusalReason"),
        ("Sources/Vitals/Alerts/AlertRule.swift", "Subject"), ("Sources/Vitals/Alerts/AlertRule.swift", "Warning"),
        ("Sources/Contract/Commands/Request.swift", "Name"),
        ("Sources/Vitals/State/DeviceState.swift", "Phase"), ("Sources/Vitals/State/SyncState.swift", "Phase"),
        ("Sources/Contract/Messages/PayloadSchema.swift", "Schema"),
    ])
    func `the contract has every word of an enumeration`(path: String, name: String) throws {
        let contract = try Self.contract()
        let words = Self.words(of: name, in: try Repository.text(path))
        #expect(words.count > 1, "\(path) has no \(name)")
        for word in words {
            #expect(contract.contains("`\(word)`") || contract.contains("\"\(word)\""), "the contract has no \(word)")
        }
    }

    @Test func `the contract has every metric, unit and word of the table of metrics`() throws {
        let contract = try Self.contract()
        let table = try Repository.text("Sources/Vitals/Metrics/MetricTable.swift")
        let names = table.matches(of: /MetricDescription\(\s*"([a-z_]+)"/).map { String($0.1) }
        #expect(names.count > 9)
        let rows = table.split(separator: "\n").filter { !$0.contains("//") }.joined()
        for match in rows.matches(of: /"([^"]+)"/) {
            #expect(contract.contains("`\(match.1)`"), "the contract has no \(match.1)")
        }
    }

    /// The raw values of the enumerations in a source whose name has this ending.
    private static func words(of name: String, in source: String) -> [String] {
        var words: [String] = []
        var isInside = false
        for line in source.split(separator: "\n") {
            if line.contains("enum ") { isInside = line.contains("\(name):") }
            guard isInside, let start = line.range(of: "case ") else { continue }
            if line[..<start.lowerBound].contains("/") || line.contains("case .") { continue }
            for part in line[start.upperBound...].split(separator: ",") {
                let sides = part.split(separator: "=").map {
                    $0.trimmingCharacters(in: CharacterSet(charactersIn: " `\"}"))
                }
                if let word = sides.last { words.append(word) }
            }
        }
        return words
    }

    @Test func `the contract has every key of a payload`() throws {
        let contract = try Self.contract()
        for file in try Repository.swiftFiles(in: "Sources/Contract/Encoding") {
            for match in file.text.matches(of: /(?:member|key)\("([a-z_]+)"/) {
                let key = String(match.1)
                #expect(contract.contains("`\(key)`") || contract.contains("\"\(key)\""), "\(file) writes \(key)")
            }
        }
    }

    @Test func `the newest entry of the changelog, the program and its packages have one version`() throws {
        let source = try Repository.text("Sources/Gateway/Process/GatewayVersion.swift")
        let version = try #require(source.firstMatch(of: /current = "([0-9]+\.[0-9]+\.[0-9]+)"/)).1
        let changelog = try Repository.text("\(Self.catalog)/CHANGELOG.md")
        #expect(changelog.firstMatch(of: /(?m)^## (\S+)/)?.1 == version)
        #expect(try Repository.text("README.md").contains("vitals2mqtt:\(version) demo"))
        // The package asks the program, and the image has the version of its package.
        #expect(try Repository.text("deploy/package").contains("\"$program\" --version"))
        #expect(try Repository.text("deploy/prepare").contains("Sources/Gateway/Process/GatewayVersion.swift"))
        for script in ["deploy/package", "deploy/image", "deploy/prepare", ".ci/release"] {
            #expect(try !Repository.text(script).contains(version), "\(script) has a version of its own")
        }
    }

    @Test func `the commented configuration has every key that is read`() throws {
        let sample = try Repository.text("deploy/vitals2mqtt.yaml")
        var count = 0
        for file in try Repository.swiftFiles(in: "Sources/Gateway/Configuration") {
            let reads =
                /reader\.(?:string|integer|number|flag|duration|bytes|choice|section|sections|value|optionalString)\(\s*"([a-z_]+)"/
            for match in file.text.matches(of: reads) {
                count += 1
                #expect(
                    sample.contains("\(match.1):"), "\(file) reads \(match.1), which deploy/vitals2mqtt.yaml has not")
            }
        }
        #expect(count > 15)
    }
}

extension String {
    /// The targets of the links of a page, outside of code.
    fileprivate var links: [String] {
        let prose = replacing(/```[\s\S]*?```/, with: "").replacing(/`[^`\n]*`/, with: "")
        return prose.matches(of: /\]\(([^)\s]+)\)/).map { String($0.1) }
    }
}
