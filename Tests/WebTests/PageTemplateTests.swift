import Foundation
import Testing

/// What no template may have, so that a strict Content-Security-Policy holds and a page works below every path.
@Suite struct PageTemplateTests {
    private static let web = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Sources/Web").standardized

    /// The texts of a folder's files with this ending, by name.
    private static func files(in folder: String, _ ending: String) throws -> [(name: String, text: String)] {
        let names = try FileManager.default.contentsOfDirectory(atPath: web.appending(path: folder).path)
        let files = try names.filter { $0.hasSuffix(ending) }.sorted().map { name in
            (name: name, text: try String(contentsOf: web.appending(path: "\(folder)/\(name)"), encoding: .utf8))
        }
        return try #require(files.isEmpty ? nil : files)
    }

    @Test func `no template has a script, a style or a handler of its own`() throws {
        for file in try Self.files(in: "Templates", ".mustache") {
            #expect(!file.text.contains(#/<style|\sstyle=|\son[a-z]+=|javascript:/#), "\(file.name)")
            for match in file.text.matches(of: #/<script[^>]*>/#) {
                #expect(match.0.contains(#"src="assets/"#), "\(file.name): \(match.0)")
            }
        }
    }

    @Test func `every address of a template is relative to the base`() throws {
        for file in try Self.files(in: "Templates", ".mustache") {
            for match in file.text.matches(of: #/(?:href|src|action|formaction)="([^"]*)"/#)
            where match.0 != #"href="{{base}}""# {
                #expect(!match.1.hasPrefix("/") && !match.1.contains("://"), "\(file.name): \(match.0)")
                #expect(!match.1.hasPrefix("#") && !match.1.hasPrefix("?"), "\(file.name): \(match.0)")
            }
        }
        for file in try Self.files(in: "Assets", "") where !file.name.hasSuffix(".svg") {
            #expect(!file.text.contains("://") && !file.text.contains("@import"), "\(file.name)")
        }
    }

    @Test func `every form that changes something sends the token`() throws {
        for file in try Self.files(in: "Templates", ".mustache") {
            for form in file.text.components(separatedBy: "<form").dropFirst() {
                let tag = form.prefix { $0 != ">" }
                #expect(tag.contains(#"method="post""#), "\(file.name): a form that does not post needs no form")
                let body = form.components(separatedBy: "</form>")[0]
                #expect(body.contains(#"name="csrf""#), "\(file.name):\(tag)")
            }
        }
    }

    @Test func `only drawings are written without escapes`() throws {
        // Each follows the section or stands in the place of a drawing.
        let drawings = [
            ">{{{svg}}}</div>", "{{#sparkSVG}}{{{.}}}", #"<div class="drawing">{{{narrowSVG}}}{{{wideSVG}}}</div>"#,
        ]
        for file in try Self.files(in: "Templates", ".mustache") {
            let rest = drawings.reduce(file.text) { $0.replacing($1, with: "") }
            #expect(!rest.contains("{{{") && !rest.contains("{{&"), "\(file.name)")
        }
    }

    @Test func `every partial that a template names is there, and every one is named`() throws {
        let files = try Self.files(in: "Templates", ".mustache")
        let names = Set(files.map { String($0.name.dropLast(".mustache".count)) })
        let used = Set(files.flatMap { $0.text.matches(of: #/\{\{> (\w+)\}\}/#).map { String($0.1) } })
        #expect(used.isSubset(of: names), "\(used.subtracting(names).sorted())")
        let pages: Set = ["add", "device", "error", "gateway", "nightpage", "overview", "signin"]
        #expect(names.subtracting(used) == pages)
    }
}
