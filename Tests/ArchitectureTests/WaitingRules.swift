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

    @Test func `nobody is woken under a lock`() throws {
        // A locked region returns what is to be woken; whoever waits may take the same lock in its cancellation.
        let calls = ["resume(", ".fulfil(", ".wake(", ".yield(", ".signal("]
        for folder in ["Sources", "Plugins"] {
            for file in try Repository.swiftFiles(in: folder) where !file.path.contains("/Tests/") {
                let parts = file.text.components(separatedBy: "withLock")
                for (before, after) in zip(parts, parts.dropFirst()) {
                    // The lock of an `AsyncMutex` is no lock of a thread: its region may wait.
                    let isAwaited = before.components(separatedBy: "\n").last?.contains("await") == true
                    let head = after.drop { $0.isWhitespace || $0 == "(" }
                    guard !isAwaited, head.first == "{" else { continue }
                    let body = after.lockedRegion
                    #expect(!calls.contains { body.contains($0) }, "\(file) wakes somebody under a lock: \(body)")
                }
            }
        }
    }
}

extension String {
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
