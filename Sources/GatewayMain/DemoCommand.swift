import ArgumentParser
import Foundation
import Gateway

/// `demo`.
struct DemoCommand: GatewayCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "Runs a gateway with simulated wearables and a page, without a configuration.",
        discussion: """
            It prints the page's address, and runs without a broker, too. Its topics begin with vitals2mqtt/demo, so another gateway at \
            the same broker goes on. At the end it empties what it has left there.
            """)

    @Option(help: "The broker.")
    var broker = "mqtt://127.0.0.1:1883"

    @Option(help: "The IP address and port of its page.")
    var listen = "127.0.0.1:8480"

    @Option(help: "A folder for configuration and store. Default: a temporary one, which is removed at the end.")
    var directory: String?

    @OptionGroup var log: LogLevelOption

    func run(with plugins: PluginCatalogue) async throws {
        let folder = try directory ?? Self.makeTemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: "\(folder)/\(DemoConfiguration.devices)", withIntermediateDirectories: true)
        let path = "\(folder)/demo.yaml"
        let text = DemoConfiguration.text(broker: broker, listen: listen)
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        let configuration = try? ConfigurationLoader(plugins: plugins).load(path)
        if configuration != nil { StandardOutput.write("The page is at http://\(listen)/\n") }
        let status = await GatewayProcess.run(
            path, plugins: plugins, logLevel: log.level, composition: GatewayServices.standard)
        if let configuration {
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
