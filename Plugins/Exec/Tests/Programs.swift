import Foundation
import GatewayKit
import TestSupport
import Vitals

@testable import Exec

struct Unexpected: Error { var text: String }

/// A transport with this command, and 100 ms for programs to end.
func transport(
    _ command: [String], directory: String? = nil, environment: [(String, String)] = [],
    limits: [(String, String)] = []
) throws -> ExecTransport {
    var members: [(String, ConfigurationValue.Content)] = [("command", .words(command))]
    if let directory { members.append(("directory", .scalar(directory, isQuoted: false))) }
    members.append(("environment", .map(environment.map { ($0, .scalar($1, isQuoted: false)) })))
    members.append(("limits", .map(limits.map { ($0, .scalar($1, isQuoted: false)) })))
    var reader = ConfigurationReader(ConfigurationValue(.map(members)))
    var transport = ExecTransport(options: &reader)
    let issues = reader.finish()
    guard issues.isEmpty else { throw Unexpected(text: "\(issues)") }
    transport.grace = .milliseconds(100)
    return transport
}

/// A transport that runs a shell script.
func shell(_ script: String) throws -> ExecTransport { try transport(["/bin/sh", "-c", script]) }

extension ConfigurationValue.Content {
    static func words(_ words: [String]) -> Self { .list(words.map { .init(.scalar($0, isQuoted: false)) }) }
    static func map(_ members: [(String, Self)]) -> Self {
        .map(members.map { (ConfigurationKey($0.0), ConfigurationValue($0.1)) })
    }
}

extension ExecTransport {
    /// Opens a byte link.
    func withBytes(
        log: LogRecorder = LogRecorder(), _ body: @Sendable (any ByteLink) async throws -> Void
    ) async throws {
        guard let device = DeviceID("band-1") else { throw Unexpected(text: "no identifier") }
        try await withLink(context: LinkContext(device: device, logger: log.logger)) { link in
            guard case .bytes(let bytes) = link else { throw Unexpected(text: "no stream of bytes") }
            try await body(bytes)
        }
    }
}

extension ByteLink {
    /// Reads to the end.
    func readAll() async throws -> String {
        var all: [UInt8] = []
        while case let bytes = try await read(atMost: 65_536), !bytes.isEmpty { all += bytes }
        return String(decoding: all, as: UTF8.self)
    }

    /// Reads whole lines of numbers until there are `count` of them.
    func readNumbers(_ count: Int) async throws -> [Int32] {
        var all: [UInt8] = []
        while all.count(where: { $0 == UInt8(ascii: "\n") }) < count {
            let byte = try await read(atMost: 1)
            if byte.isEmpty { throw Unexpected(text: "The program ended early.") }
            all += byte
        }
        return String(decoding: all, as: UTF8.self).split(separator: "\n").compactMap { Int32($0) }
    }
}

/// A running program, as the system sees it (proc(5)).
struct Process {
    var identifier: Int32

    /// `R` running, `S` sleeping, `Z` a zombie; `nil` when it is gone.
    var state: Character? {
        guard let line = try? String(contentsOfFile: "/proc/\(identifier)/stat", encoding: .utf8) else { return nil }
        return line.suffix(from: line.lastIndex(of: ")") ?? line.startIndex).dropFirst(2).first
    }

    /// The total of bytes it has written.
    var bytesWritten: Int? {
        guard let text = try? String(contentsOfFile: "/proc/\(identifier)/io", encoding: .utf8) else { return nil }
        return text.split(separator: "\n").first { $0.hasPrefix("wchar: ") }.flatMap { Int($0.dropFirst(7)) }
    }

    /// Returns once it no longer runs. If its parent died, process 1 reaps it, which may take a moment; it counts as
    /// dead before that. The test's time limit is the deadline.
    func waitUntilDead() async {
        while let state, state != "Z", state != "X", !Task.isCancelled { await Task.yield() }
    }
}
