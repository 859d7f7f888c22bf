import ArgumentParser
import Foundation
import Gateway

/// `demo`.
struct DemoCommand: GatewayCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "Runs a gateway with simulated wearables, without a configuration.",
        discussion: """
            Its topics begin with vitals2mqtt/demo, so another gateway at the same broker goes on. At the end it empties what it has left \
            there.
            """)

    @Option(help: "The broker.")
    var broker = "mqtt://127.0.0.1:1883"

    @Option(help: "A folder for the store. Default: a temporary one, which is removed at the end.")
    var directory: String?

    @OptionGroup var log: LogLevelOption

    func run(with plugins: PluginCatalogue) async throws {
        let folder = try directory ?? Self.makeTemporaryFolder()
        let source = ConfigurationSource.text(DemoConfiguration.text(broker: broker), directory: folder)
        let status = await GatewayProcess.run(
            source, plugins: plugins, logLevel: log.level, composition: GatewayServices.standard)
        if let configuration = try? ConfigurationLoader(plugins: plugins).load(source) {
            do throws(ToolFailure) { try await RetainedCleaning(after: configuration).run() } catch {
                StandardError.write("\(error)\n")
            }
        }
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
