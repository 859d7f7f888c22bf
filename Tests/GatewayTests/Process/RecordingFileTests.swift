import Concurrency
import Foundation
import GatewayKit
import GatewayTesting
import Glibc
import Recordings
import TestSupport
import Testing
import Vitals

@testable import Gateway

@Suite struct RecordingFileTests {
    private func withFolder(_ body: (String) async throws -> Void) async throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "recording-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: url) }
        try await body(url.path)
    }

    /// A link on which the device says this many pieces of a hundred bytes.
    private func record(_ pieces: Int, in file: RecordingFile) async throws {
        let device = try #require(DeviceID("band-1"))
        let (gateway, peer) = ScriptedByteLink.pair(clock: .system)
        try await file.recorder.recording(.bytes(gateway), of: device, driver: "link", mask: Mask()) { link in
            guard case .bytes(let stream) = link else { return }
            for piece in 0..<pieces {
                try await peer.write([UInt8](repeating: UInt8(truncatingIfNeeded: piece), count: 100))
                _ = try await stream.read(atMost: 1_000)
            }
        }
    }

    @Test func `the file has every line when it is closed, and only its owner may read it`() async throws {
        try await withFolder { folder in
            let path = folder + "/new.recording"
            let file = try RecordingFile(creating: path) { Issue.record("It ended early: \($0)") }
            try await record(50, in: file)
            #expect(file.close() == nil)
            #expect(try Recording(path: path).links.first?.events.count == 51)
            // The first one, that of the opening, and the last one.
            #expect(file.summary == "54 lines are in \(path).")
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            file.remove()
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test func `a link or a pipe in place of the recording is not opened, and root follows no link on the way to it`()
        async throws
    {
        try await withFolder { folder in
            let (link, pipe, target) = (folder + "/link", folder + "/pipe", folder + "/target")
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
            try #require(mkfifo(pipe, 0o600) == 0)
            #expect(throws: RecordingFileError.exists(path: pipe)) { _ = try RecordingFile(creating: pipe) { _ in } }
            guard geteuid() == 0 else { return }
            let (place, way) = (folder + "/place", folder + "/way")
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
            try FileManager.default.createSymbolicLink(atPath: way, withDestinationPath: place)
            try #require(lchown(way, 65_534, 65_534) == 0 && lchown(link, 65_534, 65_534) == 0)
            for path in [way + "/new", link] {
                let error = #expect(throws: RecordingFileError.self) { _ = try RecordingFile(creating: path) { _ in } }
                #expect(error?.description.contains("is a link, and root follows only links of root's own") == true)
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: place) == [])
            #expect(!FileManager.default.fileExists(atPath: target))
        }
    }

    @Test func `a file that exists is not touched, and a folder that is missing is reported`() async throws {
        try await withFolder { folder in
            let path = folder + "/mine"
            try "mine".write(toFile: path, atomically: true, encoding: .utf8)
            #expect(throws: RecordingFileError.exists(path: path)) {
                _ = try RecordingFile(creating: path) { _ in }
            }
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
            let missing = folder + "/none/new"
            let error = #expect(throws: RecordingFileError.self) { _ = try RecordingFile(creating: missing) { _ in } }
            #expect(error?.description.contains("No such file or directory") == true)
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a full disk ends the recording at once, with the reason, and no link notices`() async throws {
        let reason = Promise<String>()
        let file = RecordingFile(path: "/dev/full", descriptor: open("/dev/full", O_WRONLY | O_CLOEXEC)) {
            reason.fulfil($0)
        }
        try await record(50, in: file)
        #expect(try await reason.wait() == "The recording /dev/full cannot be written: No space left on device.")
        #expect(file.close()?.description.contains("No space left") == true)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a recording that has reached its size says so once, and is a whole file`() async throws {
        try await withFolder { folder in
            let path = folder + "/small"
            let reason = Promise<String>()
            let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            let file = RecordingFile(path: path, descriptor: descriptor, limit: 5_000) { text in
                #expect(reason.fulfil(text))
            }
            try await record(200, in: file)
            #expect(try await reason.wait().hasSuffix("has reached its size and ends here. The gateway goes on."))
            #expect(file.close() == nil)
            #expect(try Recording(path: path).stop == .limit)
            #expect(try Data(contentsOf: URL(filePath: path)).count <= 5_000)
        }
    }
}
