import ArgumentParser
import Foundation
import Gateway
import GatewayKit
import Vitals

/// `sources`.
struct SourcesCommand: GatewayCommand {
    static let configuration = CommandConfiguration(
        commandName: "sources",
        abstract: "Says what a file or a folder has that devices can be configured for, and prints their entries.",
        discussion:
            "Reads the newest export of a phone, as the gateway would, and changes nothing. The exit status is 1 if nothing is known of the file."
    )

    @Flag(help: "Print JSON.")
    var json = false

    @Argument(help: "The file, or the folder in which exports appear.")
    var path: String

    func run(with plugins: PluginCatalogue) throws {
        let absolute = URL(filePath: path).standardizedFileURL.path
        do throws(ToolFailure) {
            let now = GatewayClock.system.now
            let report = try SourceFinder(plugins).find(
                absolute, calendar: LocalCalendar(timeZone: .current), now: now)
            StandardOutput.write(json ? report.json : report.text(at: now))
        } catch {
            StandardError.write(error.description)
            throw ExitCode(1)
        }
    }
}
