import Foundation
import GatewayKit

/// A link over the standard input and output of a child process.
final class ProcessLink: ByteLink {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let received = UnboundedQueue<[UInt8]>()

    /// Starts the example `csv_heart_rate.py` with arguments.
    init(example arguments: [String]) throws {
        // Makes a write to a dead device an error instead of the end of the test process.
        signal(SIGPIPE, SIG_IGN)
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", Self.script.path()] + arguments
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let thread = Thread { [received, handle = output.fileHandleForReading] in
            while case let data = handle.availableData, !data.isEmpty { received.put([UInt8](data)) }
            received.close()
        }
        thread.start()
    }

    /// The folder of the examples.
    static let examples = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Examples")
    private static let script = examples.appending(path: "csv_heart_rate.py")

    /// Whether Python is installed, which runs the example.
    static let isPossible: Bool = {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-c", "import sys; sys.exit(sys.version_info < (3, 9))"]
        process.standardError = FileHandle.nullDevice
        do {
            try process.run()
            process.waitUntilExit()
            return process.terminationStatus == 0
        } catch {
            return false
        }
    }()

    func read(atMost limit: Int) async throws(LinkError) -> [UInt8] {
        if let bytes = await received.next() { return bytes }
        if Task.isCancelled { throw LinkError(.cancelled, "The test ended.") }
        return []
    }

    func write(_ bytes: [UInt8]) async throws(LinkError) {
        do {
            try input.fileHandleForWriting.write(contentsOf: bytes)
        } catch {
            throw LinkError(.broken, "The program does not read any more.")
        }
    }

    /// Kills the program. It inherited the signal mask of a thread that blocks every blockable signal, so only SIGKILL
    /// works.
    func stop() {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
