import Foundation
import MQTT

/// The program that is built with these tests.
enum GatewayProgram {
    static let path: String = {
        let bundle = URL(filePath: (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "")
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../..")
            .standardizedFileURL
        let folders = [
            bundle.deletingLastPathComponent(), Bundle.main.bundleURL, root.appending(path: ".build/debug"),
        ]
        return folders.map { $0.appending(path: "vitals2mqtt").path(percentEncoded: false) }
            .first { FileManager.default.isExecutableFile(atPath: $0) } ?? "vitals2mqtt"
    }()
}

/// Runs `body` with the path of a configuration file in a separate folder.
func withConfiguration(_ text: String, _ body: (String) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "vitals2mqtt-bluez-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "gateway.yaml").path(percentEncoded: false)
    try text.write(toFile: file, atomically: true, encoding: .utf8)
    try await body(file)
}

extension InboundMessage {
    var text: String { String(decoding: payload, as: UTF8.self) }
}
