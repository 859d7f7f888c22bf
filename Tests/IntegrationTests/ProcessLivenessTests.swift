import Foundation
import Glibc
import JSON
import MQTT
import TestSupport
import Testing

/// The process itself: its log, its health, its stop and its limits.
@Suite(.timeLimit(.minutes(10)))
struct ProcessLivenessTests {
    /// A program that speaks for a device while a child of it floods standard error.
    private static func chatty(_ id: String, flood: String) -> String {
        let script = "\(flood) >&2 & exec python3 \(Repository.device)"
        return "{id: \(id), name: \(id), driver: link, transport: {type: exec, command: [sh, -c, '\(script)']}}"
    }

    private static let flood = "yes \"\(String(repeating: "a line of a chatty program ", count: 8))\""

    @Test func `a log that nobody reads holds up no sample, no command and no stop`() async throws {
        try await withBench { bench in
            let load = try await LoadDevice("load", rate: 20, on: bench)
            let names = ["one", "two", "three"]
            try bench.configure(
                [bench.tcpDevice("load", port: load.port)] + names.map { Self.chatty($0, flood: Self.flood) })
            try #require(mkfifo(bench.path("log"), 0o600) == 0)
            // The third descriptor keeps the pipe open for reading, and no process reads.
            let gateway = bench.startGateway(through: "exec 3<>\"\(bench.path("log"))\" 2>&3")
            for name in names { try await bench.synced(name) }
            // The pipe and the log's buffer are full after a few seconds.
            try await load.wait(for: load.acknowledged + 200)
            let start = bench.position
            try await bench.message("load/measurement/heart_rate", from: start)
            for name in names {
                let answer = try await bench.command("\(name)/command/sync", id: "sync-\(name)")
                #expect(answer["status"]?.asString == "done")
            }
            let began = ContinuousClock.now
            gateway.interrupt(.end)
            try await gateway.end(within: Bench.timeout)
            #expect(ContinuousClock.now - began < .seconds(6))
            #expect(gateway.events.elements.last?.text == "ended: exited(0)")
        }
    }

    @Test func `a program that writes 100 MB to its standard error costs little, and delays no other device`()
        async throws
    {
        try await withBench { bench in
            let flood = "yes \"\(String(repeating: "x", count: 99))\" | head -n 1000000"
            try bench.configure([Self.chatty("chatty", flood: flood), bench.execDevice("band")])
            let gateway = bench.startGateway(through: "echo \"process $$\"")
            try await bench.synced("band")
            try await bench.synced("chatty")
            // Another device is asked again and again during the flood, and every answer is timed.
            var (slowest, asked) = (Duration.zero, 0)
            repeat {
                let began = ContinuousClock.now
                let answer = try await bench.command("band/command/sync", id: "during-\(asked)")
                #expect(answer["status"]?.asString == "done")
                slowest = max(slowest, ContinuousClock.now - began)
                asked += 1
            } while asked < 3 || (asked < 100 && Self.skipped(gateway.events.elements) == 0)
            #expect(slowest < .seconds(10), "a second elsewhere; this machine may be loaded")
            let lines = try await gateway.events.wait(within: Bench.timeout) { Self.skipped($0) > 900_000 }
            let process = try #require(lines.lazy.compactMap { Int($0.text.dropPrefix("process ")) }.first)
            // The processor's time of the whole gateway, in ticks of 10 ms (proc(5)).
            let fields = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8).split(separator: " ")
            let time = Duration.milliseconds(10 * ((Int(fields[13]) ?? 0) + (Int(fields[14]) ?? 0)))
            #expect(time < .seconds(7), "of a debug build, with all of its work")
            let logged = lines.count { $0.text.contains("xxxxxxxxxx") }
            #expect(Self.skipped(lines) + logged <= 1_000_000)
            let answer = try await bench.command("chatty/command/sync", id: "still-there")
            #expect(answer["status"]?.asString == "done")
        }
    }

    /// How many lines the log says it skipped.
    private static func skipped(_ events: [ChildProgram.Event]) -> Int {
        // A search for text first: this is asked after each of thousands of lines, and a regular expression takes longer.
        events.lazy.filter { $0.text.contains("exec.skipped=") }.reduce(0) { sum, event in
            sum + (event.text.firstMatch(of: /exec\.skipped=(\d+)/).flatMap { Int($0.1) } ?? 0)
        }
    }

    @Test func `reports to the service manager that it is ready, alive and stopping`() async throws {
        try await withBench { bench in
            try bench.configure([bench.execDevice("band")])
            try await withNotifySocket(at: bench.path("notify")) { socket in
                let gateway = bench.startGateway(
                    through: "export NOTIFY_SOCKET=\"\(socket.address)\" WATCHDOG_USEC=1000000")
                try await socket.messages.wait(within: Bench.timeout) { messages in
                    messages.contains("READY=1") && messages.contains("STATUS=The broker is connected.")
                        && messages.count { $0 == "WATCHDOG=1" } > 3
                }
                let state = try await bench.message("gateway/state")
                #expect(state.json["late"]?.asArray == [])
                try await bench.end(gateway, by: .end)
                #expect(gateway.events.elements.last?.text == "ended: exited(0)")
                try await socket.messages.wait(within: Bench.timeout) { $0.last == "STOPPING=1\nSTATUS=Stopping." }
            }
        }
    }

    @Test func `a stop that takes too long has a status of its own, and says what held it up`() async throws {
        try await withBench { bench in
            let load = try await LoadDevice("load", rate: 50, on: bench)
            try bench.configure([bench.tcpDevice("load", port: load.port)])
            let gateway = bench.startGateway()
            try await load.wait(for: 10)
            // A program that holds the store's lock: each write waits for five seconds.
            let locker = bench.programs.start(
                "python3",
                [
                    "-c",
                    """
                    import sqlite3, sys, time
                    store = sqlite3.connect(sys.argv[1], isolation_level=None)
                    store.execute("BEGIN IMMEDIATE")
                    print("locked", flush=True)
                    time.sleep(1000)
                    """, bench.path("vitals.sqlite"),
                ])
            try await locker.events.wait(within: Bench.timeout) { $0.contains { $0.text == "locked" } }
            gateway.interrupt(.end)
            try await gateway.end(within: Bench.timeout)
            let lines = gateway.events.elements.map(\.text)
            #expect(lines.last == "ended: exited(75)")
            let last = try #require(lines.last { $0.contains("The stop takes too long") })
            #expect(last.contains("store"))
            #expect(!lines.contains { $0.contains("Fatal error") })
        }
    }

    @Test func `a configuration that is a named pipe is refused, at the start and at a reload, and does not hang`()
        async throws
    {
        try await withBench { bench in
            let gateway = try await bench.start([bench.execDevice("band")], synced: "band")
            try FileManager.default.removeItem(atPath: bench.path("gateway.yaml"))
            try #require(mkfifo(bench.path("gateway.yaml"), 0o600) == 0)
            gateway.interrupt(.reload)
            try await gateway.says("cannot be read: it is no regular file.")
            try await bench.end(gateway, by: .end)
            #expect(gateway.events.elements.last?.text == "ended: exited(0)")
            let second = bench.startGateway()
            try await second.end(within: Bench.timeout)
            #expect(second.events.elements.last?.text == "ended: exited(78)")
        }
    }

    @Test func `with 64 file descriptors and 101 devices it goes on with the links that it can have`() async throws {
        try await withBench { bench in
            let (_, port) = try await bench.startDevice(Repository.device, [])
            let devices = (0..<100).map { bench.tcpDevice("d\($0)", port: port) }
            try bench.configure(devices + [bench.execDevice("band")])
            let gateway = bench.startGateway(through: "ulimit -n 64")
            try await gateway.events.wait(within: Bench.timeout) { events in
                events.contains {
                    $0.text.contains("descriptors.limit=64 descriptors.needed=249 devices=101")
                }
            }
            try await bench.message("gateway/status") { $0.text == "online" }
            let waiting = try await bench.waitingForDescriptors(85)
            #expect(waiting.count >= 85)
            // The program needs more than is left by many small links, so they leave it room.
            try await bench.message("band/link") { $0.json["state"]?.asString == "connected" }
            let device = try await bench.firstLinked()
            let answer = try await bench.command("\(device)/command/sync", id: "with-a-link")
            #expect(answer["status"]?.asString == "done")
            #expect(!gateway.events.elements.contains { $0.isEnd })
        }
    }
}

extension Bench {
    /// Waits until at least `count` devices say that no descriptors are left for them.
    fileprivate func waitingForDescriptors(_ count: Int) async throws -> Set<String> {
        let find: @Sendable ([InboundMessage]) -> Set<String> = { messages in
            Set(
                messages.compactMap { message in
                    let isWaiting =
                        message.topic.hasSuffix("/link")
                        && message.json["last_error"]?.asString?.contains("No file descriptors are left") == true
                    return isWaiting ? message.topic.split(separator: "/").dropLast().last.map(String.init) : nil
                })
        }
        return find(try await subscriber.wait(deadline: Self.timeout) { find($0).count >= count })
    }

    /// The first device that is connected.
    fileprivate func firstLinked() async throws -> String {
        let isLink: @Sendable (InboundMessage) -> Bool = { message in
            message.topic.hasSuffix("/link") && message.json["state"]?.asString == "connected"
        }
        let messages = try await subscriber.wait(deadline: Self.timeout) { $0.contains(where: isLink) }
        return messages.first(where: isLink)?.topic.split(separator: "/").dropLast().last.map(String.init) ?? ""
    }
}

extension String {
    fileprivate func dropPrefix(_ prefix: String) -> Substring { hasPrefix(prefix) ? dropFirst(prefix.count) : "" }
}
