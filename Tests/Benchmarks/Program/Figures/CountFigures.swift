import Foundation
import Glibc

/// What a live sample that comes alone costs in counts, which no other work of the machine changes: so these can be checked anywhere.
enum CountFigures {
    private static let devices = 10
    /// Samples a second of all devices: each is stored and sent by itself.
    private static let rate = 1.0

    /// What is counted, with the most for each sample: a tenth to a quarter above what was measured of the debug build: 129, 50, 3.5
    /// and 1. A second's other work of ten devices is in it.
    private static let calls: [(key: String, title: String, limit: Double)] = [
        ("all", "system calls", 160), ("futex", "of them futex", 64), ("pwrite64", "of them pwrite64", 4.5),
        ("fdatasync", "of them fdatasync, that is commits", 1.25),
    ]
    /// 3.1 were measured.
    private static let packetLimit = 3.75
    /// 865 were measured.
    private static let allocationLimit = 1040.0

    static func measure(_ settings: RunSettings) throws -> [Figure] {
        try allocations(settings) + systemCalls(settings)
    }

    private static func systemCalls(_ settings: RunSettings) throws -> [Figure] {
        try counting(settings, "counts-calls") { setup, feed in
            let trace = setup.folder.appending(path: "strace.txt")
            let tracer = try ChildProcess(
                "strace", "/usr/bin/strace", ["-f", "-yy", "-o", trace.path, "-p", "\(setup.gateway.pid)"],
                log: setup.folder.appending(path: "strace.log"))
            // Its first calls are those that it interrupted.
            try setup.run(seconds: 1)
            let before = try feed.counts.sent
            let begin = try SystemCalls(in: trace)
            try setup.run(seconds: settings.pick(quick: 20, full: 60))
            let end = try SystemCalls(in: trace)
            let samples = try feed.counts.sent - before
            tracer.end(SIGINT)
            guard samples > 0 else { throw BenchError("No sample was sent.") }
            guard end.count("all") > begin.count("all") else {
                throw BenchError("strace has counted nothing; it needs the right to trace (root, or ptrace_scope 0).")
            }
            func each(_ key: String) -> Double { Double(end.count(key) - begin.count(key)) / Double(samples) }
            return calls.map { key, title, limit in
                Figure("counts.\(key)", title, each(key), "/sample", aim: .atMost(limit))
            } + [
                Figure(
                    "counts.packets", "writes to sockets", each("packets"), "/sample", aim: .atMost(packetLimit),
                    note: "\(samples) samples of \(devices) devices, each by itself")
            ]
        }
    }

    /// Counted by a library that the gateway's process loads first, which `deploy/bench` builds.
    private static func allocations(_ settings: RunSettings) throws -> [Figure] {
        guard let library = ProcessInfo.processInfo.environment["ALLOCATIONS_LIBRARY"] else { return [] }
        let file = settings.work.appending(path: "allocations")
        try Data(count: 8).write(to: file)
        func count() throws -> UInt64 {
            try Data(contentsOf: file).reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        setenv("LD_PRELOAD", library, 1)
        setenv("ALLOCATIONS_FILE", file.path, 1)
        return try counting(settings, "counts-memory") { setup, feed in
            // The lowest of several times: in another the gateway may have announced itself to Home Assistant, too.
            var lowest = Double.infinity
            for _ in 0..<4 {
                let (before, sent) = (try count(), try feed.counts.sent)
                try setup.run(seconds: settings.pick(quick: 5, full: 15))
                let (samples, made) = (try feed.counts.sent - sent, try count() - before)
                guard samples > 0, made > 0 else { throw BenchError("No allocation was counted.") }
                lowest = min(lowest, Double(made) / Double(samples))
            }
            return [
                Figure("counts.allocations", "allocations", lowest, "/sample", aim: .atMost(allocationLimit))
            ]
        }
    }

    /// Runs a gateway with samples that come one at a time.
    private static func counting(
        _ settings: RunSettings, _ name: String, _ body: (Setup, FeedProcess) throws -> [Figure]
    ) throws -> [Figure] {
        try Setup.with(settings, name, Setup.Setting(devices: devices, age: 1000)) { setup in
            try setup.startGateway()
            // For the gateway alone, not for what is started later.
            unsetenv("LD_PRELOAD")
            let feed = try setup.feeder()
            try feed.pace(rate)
            try setup.run(seconds: 5)
            let figures = try body(setup, feed)
            try setup.drain(try feed.stop().sent)
            return figures + Integrity(try feed.keys(), setup.arrivals).figures(name, name)
        }
    }
}

/// The system calls in the output of `strace -f -yy`.
struct SystemCalls {
    private var counts: [String: Int] = [:]

    init(in file: URL) throws {
        let text = try String(contentsOf: file, encoding: .utf8)
        for line in text.split(separator: "\n") {
            // `123 futex(0x…) = 0`; the other half of a call that another thread's interrupted begins with `<...`.
            let call = line.drop { $0 != " " }.drop { $0 == " " }
            guard let end = call.firstIndex(of: "("), call.first?.isLetter == true else { continue }
            let name = String(call[..<end])
            counts[name, default: 0] += 1
            counts["all", default: 0] += 1
            let first = call[call.index(after: end)...].prefix { $0 != "," }
            if ["write", "writev", "send", "sendto", "sendmsg"].contains(name), first.contains("<TCP") {
                counts["packets", default: 0] += 1
            }
        }
    }

    func count(_ key: String) -> Int { counts[key] ?? 0 }
}
