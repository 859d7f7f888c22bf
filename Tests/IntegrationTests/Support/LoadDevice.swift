import Foundation
import GatewayTesting

/// A device that sends samples as fast as they are acknowledged.
struct LoadDevice: Sendable {
    let name: String
    let port: Int
    let program: ChildProgram
    let journal: String

    /// Starts one.
    init(_ name: String, on bench: Bench) async throws {
        self.name = name
        journal = bench.path("\(name).acknowledged")
        (program, port) = try await bench.startDevice(
            Repository.fixture("load_device.py"), ["--name", name, "--journal", journal])
    }

    /// How many samples were acknowledged so far.
    var acknowledged: Int { Self.count(program.events.elements) }

    /// Waits until so many samples were acknowledged in all.
    func wait(for count: Int) async throws {
        try await program.events.wait(within: Bench.patience) { Self.count($0) >= count }
    }

    private static func count(_ events: [ChildProgram.Event]) -> Int {
        let line = events.last { $0.text.hasPrefix("acknowledged ") }?.text
        return line.flatMap { Int($0.dropFirst("acknowledged ".count)) } ?? 0
    }

    /// Ends the device. Returns the ids of the acknowledged samples, as the device worked them out, in their order.
    func end(on bench: Bench) async throws -> [String] {
        try await bench.end(program, by: .kill)
        let text = try String(contentsOfFile: journal, encoding: .utf8)
        return text.split(separator: "\n").compactMap { $0.split(separator: " ").first.map(String.init) }
    }
}
