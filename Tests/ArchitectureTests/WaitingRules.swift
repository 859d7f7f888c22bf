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
        for folder in ["Sources", "Plugins"] + Repository.kits {
            for file in try Repository.swiftFiles(in: folder)
            where !file.path.contains("/Tests/") && !file.path.hasPrefix("Plugins/Examples/") {
                let uses = file.lines.filter { $0.contains("AsyncStream") || $0.contains("AsyncThrowingStream") }
                #expect(uses.isEmpty, "\(file): use a Mailbox: \(uses)")
            }
        }
    }

    @Test func `nothing waits for bytes by a handler of a file handle`() throws {
        // Foundation closes the descriptor before libdispatch has forgotten it. While another program is started, which has the
        // descriptor for a moment, too, the thread of libdispatch then reads freed memory.
        let marks = ["readability" + "Handler", "writeability" + "Handler", "InBackground" + "AndNotify"]
        for folder in ["Sources", "Plugins", "Tests"] {
            for file in try Repository.swiftFiles(in: folder) {
                let uses = file.lines.filter { line in marks.contains { line.contains($0) } }
                #expect(uses.isEmpty, "\(file): read on a thread of its own, or with Subprocess: \(uses)")
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
        "Plugins/Phones/Sources/Exports/Session/FirstReading.swift": " note",
        "Sources/GatewayKit/Plugin/PasskeyRequests.swift": " change",
        "Sources/Recordings/Writing/LinkRecorder.swift": "change",
        "Tests/Support/Sessions/ScriptedSession.swift": "session.change",
        "Tests/Support/Wearables/ScriptedO2Ring.swift": ".withState",
        "Tests/Support/Wearables/ScriptedRing.swift": ".withState",
        "Tests/Benchmarks/Program/Feed/DeviceTally.swift": ".update",
        "Sources/GatewayMain/PluginCheck/ProgramUnderCheck.swift": " audit",
        "Plugins/Replay/Sources/Calling/ConversationLink.swift": " change",
        "Plugins/Replay/Sources/Playing/Playback.swift": " change",
        "Plugins/Simulator/Sources/SimulatorDriver.swift": "device.use",
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
        for folder in ["Sources", "Plugins"] + Repository.kits {
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
            Self.closures(in: "init(weight: @escaping @Sendable (Element) -> Int) { link { tick in self.x } }")
                == ["weight", "tick"])
    }

    /// The locked regions in a file of this path that wake a task. Names alone decide what wakes: a function that only changes what
    /// the lock guards is called otherwise.
    private static func wakingRegions(in text: String, of path: String) -> [String] {
        var text = text
        for (locker, call) in lockers where module(locker) == module(path) {
            for brace in [" {", "({"] { text.replace(call + brace, with: " withLock" + brace) }
        }
        return text.lockedRegions.filter { region in
            let wakes = #/resume\(|\.(?:fulfil|wake|yield|signal|offer|launch|turn|finish)(?:\(|\s\{)/#
            let probesAndTimers = #/\.end\(\)|\.step\(\s*nextBy:|\.set\(\s*(?:after|within):/#
            return region.firstMatch(of: wakes) != nil || region.firstMatch(of: probesAndTimers) != nil
        }
    }

    @Test func `nobody is woken under a lock`() throws {
        // A locked region returns what is to be woken; the waiting task may take the same lock in its cancellation.
        for folder in ["Sources", "Plugins"] + Repository.kits {
            for file in try Repository.swiftFiles(in: folder) where !file.path.contains("/Tests/") {
                let regions = Self.wakingRegions(in: file.text, of: file.path)
                #expect(regions.isEmpty, "\(file) wakes a task under a lock: \(regions)")
            }
        }
    }

    @Test(arguments: [
        "for waiter in $0.waiters { waiter.resume(()) }", "$0.opened.fulfil(())", "change.wake()", "$0.stream.yield(1)",
        "arrival.signal()", "$0.mailbox.offer(1)", "$0.works.offer { await work() }", "inbox.finish()",
        "$0.inbox?.finish(error)", "launcher.launch { await self.run() }", "launcher.launch(work)",
        "status.turns.turn()", "status.turns.end()", "steps.step(nextBy: nil)",
        "$0.timer = timers.set(after: wait) {}", "timers.set(\n    after: wait, action)",
        "tickTimer.set(within: wait, action)",
    ]) func `what wakes is seen under a lock, and not beside it`(call: String) {
        func regions(_ text: String) -> Int { Self.wakingRegions(in: text, of: "Tests/Support/A.swift").count }
        #expect(regions("state.withLock { \(call) }") == 1)
        #expect(regions("state.withLock({ state in\n    \(call)\n})") == 1)
        #expect(regions("session.change { \(call) }") == 1, "a function that calls its closure under a lock")
        #expect(regions("state.withLock { $0.count += 1 }\n\(call)") == 0)
    }

    @Test(arguments: [
        "$0.noteEnd(end)", "$0.end(id, error)", "$0.cursor.step()", "$0.offer = 1", "$0.turns.count", "$0.flags.set(1)",
        "if case .finished = $0.state {}",
    ]) func `what only changes the guarded state wakes nobody`(call: String) {
        #expect(Self.wakingRegions(in: "state.withLock { \(call) }", of: "Sources/A/A.swift").isEmpty)
    }
}

extension String {
    /// The bodies of all `withLock`. The lock of an `AsyncMutex` is no lock of a thread: its region may wait, and is skipped.
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
