import Foundation
import JSON
import TestSupport

extension Bench {
    /// Writes a secret into a file that only its owner may read.
    func secret(_ text: String, as name: String) throws {
        try "\(text)\n".write(toFile: path(name), atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path(name))
    }

    /// Posts a file with curl. Returns the status and the answer.
    func post(
        _ file: String, to path: String, _ token: String, port: Int, more: [String] = []
    ) async throws -> (status: Int, json: JSONValue) {
        let curl = programs.start(
            "curl",
            [
                "--silent", "--show-error", "--max-time", "60", "--write-out", "\n%{http_code}", "--data-binary",
                "@\(file)", "--header", "Authorization: Bearer \(token)", "--header",
                "Content-Type: application/json",
            ] + more + ["http://127.0.0.1:\(port)\(path)"])
        try await curl.end(within: Self.timeout)
        let lines = curl.events.elements.filter { !$0.isEnd }.map(\.text)
        let json = try? JSONValue(parsing: Array(lines.dropLast().joined(separator: "\n").utf8))
        return (lines.last.flatMap { Int($0) } ?? 0, json ?? .null)
    }
}
