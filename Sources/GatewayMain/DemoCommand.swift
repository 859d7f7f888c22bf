import ArgumentParser
import Foundation
import Gateway

/// `demo`.
struct DemoCommand: GatewayCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "Runs the gateway with simulated wearables, without a configuration.")

    @Option(help: "The broker.")
    var broker = "mqtt://127.0.0.1:1883"

    @Option(help: "A folder for the store. Default: a temporary one, which is removed at the end.")
    var directory: String?

    @OptionGroup var log: LogLevelOption

    func run(with plugins: PluginCatalogue) async throws {
        let folder = try directory ?? Self.makeTemporaryFolder()
        let status = await GatewayProcess.run(
            .text(DemoConfiguration.text(broker: broker), directory: folder), plugins: plugins, logLevel: log.level,
            composition: GatewayServices.standard)
        if directory == nil { try? FileManager.default.removeItem(atPath: folder) }
        throw status.code
    }

    private static func makeTemporaryFolder() throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "vitals2mqtt-demo-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        return folder.path
    }
}
