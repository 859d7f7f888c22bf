import Foundation
import Glibc

/// The feeder, as a separate process, so that it shares only the machine with the subscriber.
final class FeedProcess {
    struct Counts: Sendable {
        var connected = 0
        var sent = 0
        var acknowledged = 0
        var refused = 0
        /// When history was first requested, and when it was last confirmed as durable, on the steady clock.
        var firstRead: Int64 = 0
        var lastAcknowledge: Int64 = 0
    }

    /// The keys of the samples that a device has sent.
    struct Keys: Sendable {
        var flooded: Int
        var paced: [Int]
        var acknowledged: [Int]
    }

    private(set) var ports: [UInt16]
    private let child: ChildProcess
    private let folder: URL
    private var pending: [UInt8] = []

    init(_ plan: FeedPlan, folder: URL) throws {
        self.folder = folder
        child = try ChildProcess(
            "feed", "/proc/self/exe",
            [
                "feed", "--devices", "\(plan.deviceCount)", "--history", "\(plan.historyCount)", "--step",
                "\(plan.step)", "--base", "\(plan.base)",
            ], log: folder.appending(path: "feed.log"), isConversation: true)
        ports = []
        let words = try readWords()
        ports = words.dropFirst().compactMap { UInt16($0) }
    }

    /// Makes devices send as fast as the gateway reads.
    func flood() throws { try order("flood") }
    /// Makes devices send this many samples per second in total.
    func pace(_ rate: Double) throws { try order("pace \(rate)") }
    /// Makes devices send this many samples per second in total, as requests that need an answer.
    func request(_ rate: Double) throws { try order("request \(rate)") }
    /// Stops the devices; returns when everything has been written.
    @discardableResult func stop() throws -> Counts { try order("stop") }
    var counts: Counts { get throws { try order("counts") } }

    /// The keys of each device.
    func keys() throws -> [Keys] {
        let file = folder.appending(path: "keys")
        try order("keys \(file.path)")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map { line in
            let lists = line.split(separator: ";", omittingEmptySubsequences: false)
                .map { $0.split(separator: ",").compactMap { Int($0) } }
            return Keys(flooded: lists[0].first ?? 0, paced: lists[1], acknowledged: lists[2])
        }
    }

    @discardableResult
    private func order(_ line: String) throws -> Counts {
        try child.input?.write(contentsOf: Data((line + "\n").utf8))
        let numbers = try readWords().dropFirst().compactMap { Int64($0) }
        guard numbers.count == 6 else { throw BenchError("The feeder has answered something else to \(line).") }
        return Counts(
            connected: Int(numbers[0]), sent: Int(numbers[1]), acknowledged: Int(numbers[2]), refused: Int(numbers[3]),
            firstRead: numbers[4], lastAcknowledge: numbers[5])
    }

    private func readWords() throws -> [Substring] {
        while true {
            if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: pending[..<end], as: UTF8.self)
                pending.removeFirst(end + 1)
                return line.split(separator: " ")
            }
            // `FileHandle` would wait for a full buffer.
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = read(child.output?.fileDescriptor ?? -1, &buffer, buffer.count)
            guard count > 0 else { throw BenchError("The feeder has ended.") }
            pending += buffer[..<count]
        }
    }
}
