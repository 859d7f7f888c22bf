import ArgumentParser
import Foundation
import Gateway

/// `run`.
struct RunCommand: GatewayCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Runs the gateway. SIGTERM ends it, SIGHUP applies a changed configuration.")

    @OptionGroup var choice: ConfigurationChoice

    @Option(
        help: ArgumentHelp(
            "Record what devices and gateway say to each other in this new file, for a bug report or a replay. It has health values.",
            valueName: "file"))
    var record: String?

    @OptionGroup var log: LogLevelOption

    func run(with plugins: PluginCatalogue) async throws {
        guard let record else { throw await run(plugins, GatewayServices.standard).code }
        let file: RecordingFile
        do throws(RecordingFileError) {
            file = try RecordingFile(creating: URL(filePath: record).standardizedFileURL.path) { reason in
                StandardError.write("\(reason)\n")
            }
        } catch { throw ValidationError(error.description) }
        let status = await run(plugins, GatewayServices.composition(recordingTo: file.recorder))
        if let failure = file.close() { StandardError.write("\(failure)\n") }
        // Nothing was recorded, and the next attempt may use the same name.
        if status == .configuration { file.remove() } else { StandardError.write("\(file.summary)\n") }
        throw status.code
    }

    private func run(
        _ plugins: PluginCatalogue, _ composition: @escaping GatewayServices.Composition
    ) async -> ExitStatus {
        await GatewayProcess.run(choice.path, plugins: plugins, logLevel: log.level, composition: composition)
    }
}
