import Foundation
import Testing

/// The rules for suspending a task.
@Suite struct WaitingRules {
    @Test func `only the module Concurrency touches a continuation`() throws {
        let marks = [
            "CheckedContinuation", "UnsafeContinuation", "withCheckedThrowingContinuation",
            "withUnsafeThrowingContinuation",
        ]
        for folder in ["Sources", "Plugins", "Tests"] {
            for file in try Repository.swiftFiles(in: folder)
            where !file.path.hasPrefix("Sources/Concurrency/") && !file.path.hasSuffix("/WaitingRules.swift") {
                for line in file.lines {
                    #expect(
                        !marks.contains { line.contains($0) },
                        "\(file): wait with a Promise, a Signal, a Mailbox or an AsyncMutex: \(line)")
                }
            }
        }
    }

    @Test func `nothing but tests and packages of others uses the streams of the standard library`() throws {
        // Their continuation has no limit, or drops what exceeds it; a mailbox answers that it is full.
        for folder in ["Sources", "Plugins"] {
            for file in try Repository.swiftFiles(in: folder)
            where !file.path.contains("/Tests/") && !file.path.hasPrefix("Plugins/Examples/") {
                let uses = file.lines.filter { $0.contains("AsyncStream") || $0.contains("AsyncThrowingStream") }
                #expect(uses.isEmpty, "\(file): use a Mailbox: \(uses)")
            }
        }
    }

    @Test func `only a waiter resumes a task, and outside of its lock`() throws {
        for file in try Repository.swiftFiles(in: "Sources/Concurrency") {
            let resumes = file.lines.filter {
                $0.contains("continuation.resume") || $0.contains("continuation?.resume")
            }
            #expect(resumes.isEmpty || file.path.hasSuffix("/Waiter.swift"), "\(file) touches a continuation")
            for lock in file.text.components(separatedBy: "withLock").dropFirst() {
                let body = lock.lockedRegion
                #expect(!body.contains("resume("), "\(file) resumes under its lock: \(body)")
            }
        }
    }

    /// Functions that call their closure under a lock, by their files, as they are called in their module: what stands in
    /// such a closure counts as locked.
    private static let lockers: [String: String] = [
        "Sources/Delivery/Refusals/InFlightPublishes.swift": "inFlight.with",
        "Sources/ExportDrivers/Session/FirstReading.swift": " note",
        "Sources/GatewayKit/Plugin/PasskeyRequests.swift": " change",
        "Sources/Recordings/Writing/LinkRecorder.swift": "change",
        "Sources/GatewayTesting/Sessions/ScriptedSession.swift": "session.change",
        "Sources/vitals2mqtt-bench/Feed/DeviceTally.swift": ".update",
        "Sources/PluginCheck/ProgramUnderCheck.swift": " look",
        "Plugins/Replay/Sources/Calling/ConversationLink.swift": " change",
        "Plugins/Replay/Sources/Playing/Playback.swift": " change",
        "Plugins/Simulator/Sources/Device/SimulatedDevice.swift": "device.use",
    ]

    /// The module of a file: its two first folders.
    private static func module(_ path: some StringProtocol) -> [Substring] {
        Array(Substring(path).split(separator: "/").prefix(2))
    }

    /// The names of what a file takes as closures: parameters and properties with the type of a function, and what a closure
    /// calls its first parameter.
    private static func closures(in text: String) -> Set<Substring> {
        let types = text.matches(
            of: #/\b(\w+): \(?(?:@\w+ )*\((?:[^()]|\([^()]*\))*\) (?:async )?(?:throws(?:\(\w+\))? )?->/#)
        return Set(types.map(\.1)).union(text.matches(of: #/\{ (\w+) in /#).map(\.1))
    }

    @Test func `only known functions call a closure under a lock`() throws {
        var found: Set<String> = []
        for folder in ["Sources", "Plugins"] {
            for file in try Repository.swiftFiles(in: folder) where !file.path.contains("/Tests/") {
                let closures = Self.closures(in: file.text)
                for region in file.text.lockedRegions
                where region.matches(of: #/(?:^|[^\w.])(\w+)\(/#).contains(where: { closures.contains($0.1) }) {
                    found.insert(file.path)
                }
            }
        }
        #expect(found == Set(Self.lockers.keys))
        #expect(
            Self.closures(in: "init(weight: @escaping @Sendable (Element) -> Int) { link { look in self.x } }")
                == ["weight", "look"])
    }

    @Test func `nobody is woken under a lock`() throws {
        // A locked region returns what is to be woken; the waiting task may take the same lock in its cancellation.
        let calls = ["resume(", ".fulfil(", ".wake(", ".yield(", ".signal("]
        for folder in ["Sources", "Plugins"] {
            for file in try Repository.swiftFiles(in: folder) where !file.path.contains("/Tests/") {
                var text = file.text
                for (path, call) in Self.lockers where Self.module(path) == Self.module(file.path) {
                    for brace in [" {", "({"] { text.replace(call + brace, with: " withLock" + brace) }
                }
                for body in text.lockedRegions {
                    #expect(!calls.contains { body.contains($0) }, "\(file) wakes a task under a lock: \(body)")
                }
            }
        }
    }
}

extension String {
    /// The bodies of all `withLock`. The lock of an `AsyncMutex` is no lock of a thread: its region may wait, and is left out.
    fileprivate var lockedRegions: [String] {
        let parts = components(separatedBy: "withLock")
        return zip(parts, parts.dropFirst()).compactMap { before, after in
            let isAwaited = before.components(separatedBy: "\n").last?.contains("await") == true
            let head = after.drop { $0.isWhitespace || $0 == "(" }
            return isAwaited || head.first != "{" ? nil : after.lockedRegion
        }
    }

    /// The text from here to the closing brace that matches the first opening one.
    fileprivate var lockedRegion: String {
        var depth = 0
        for (index, character) in zip(indices, self) {
            if character == "{" { depth += 1 }
            if character == "}" {
                depth -= 1
                if depth == 0 { return String(self[...index]) }
            }
        }
        return self
    }
}
