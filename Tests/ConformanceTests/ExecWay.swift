import Conformance
import Exec
import Foundation
import GatewayKit
import Link
import TestSupport
import Vitals

@testable import link_wearable

/// A wearable as a program: `link-wearable`, which is built with the tests.
struct ExecWay {
    let model: String

    /// The program is in the folder of the test program.
    private static let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .appending(path: "link-wearable").path

    func open(_ body: @Sendable (any DeviceSession, DriverConformance.Peer) async throws -> Void) async throws {
        let wearable = try Wearable(model: model)
        let log = LogRecorder()
        let context = wearable.context(.system, log)
        let words = [Self.program, model].map { ConfigurationValue(.scalar($0, isQuoted: true)) }
        var options = ConfigurationReader(
            ConfigurationValue(.map([(ConfigurationKey("command"), ConfigurationValue(.list(words)))])))
        let transport = ExecTransport(options: &options)
        try await transport.withLink(context: LinkContext(device: wearable.id, logger: context.logger)) { link in
            try await linkDriver().withSession(over: link, context: context) { session in
                let lines = try await log.wait { $0.contains { $0.message.hasPrefix("process ") } }
                let number = lines.lazy.compactMap { $0.message.after("process ").flatMap { Int32($0) } }.first
                guard let number else { throw WearableError(description: "The program said \(lines).") }
                try await body(session, WearableProcess(number: number, log: log).peer)
            }
        }
    }
}

/// The program `link-wearable`, controlled by the suite.
private struct WearableProcess {
    let number: Int32
    let log: LogRecorder

    var peer: DriverConformance.Peer {
        DriverConformance.Peer(
            disconnect: { kill(number, SIGKILL) },
            sendEvents: {
                kill(number, SIGUSR1)
                return Wearable.events
            },
            sendSafeSamples: {
                kill(number, SIGUSR2)
                return Wearable.safeSamples
            },
            fallSilent: {
                kill(number, SIGSTOP)
                while !isStopped, !Task.isCancelled { await Task.yield() }
            },
            deviceCalls: { condition in
                let entries = try await log.wait { condition(Self.deviceCalls(in: $0)) }
                return Self.deviceCalls(in: entries)
            })
    }

    private static func deviceCalls(in entries: [LogRecorder.Entry]) -> [DriverConformance.DeviceCall] {
        entries.compactMap { $0.message.after("received ").flatMap { DriverConformance.DeviceCall(text: $0) } }
    }

    /// Whether all its threads are stopped, according to the system (proc(5)).
    private var isStopped: Bool {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(number)/task")) ?? []
        return threads.allSatisfy { thread in
            guard let line = try? String(contentsOfFile: "/proc/\(number)/task/\(thread)/stat", encoding: .utf8),
                let name = line.lastIndex(of: ")")
            else { return true }
            return line[name...].dropFirst(2).first == "T"
        }
    }
}

extension String {
    /// The text after a word at the beginning; `nil` if it does not begin with the word.
    fileprivate func after(_ word: String) -> Substring? { hasPrefix(word) ? dropFirst(word.count) : nil }
}
