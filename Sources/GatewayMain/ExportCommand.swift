import ArgumentParser
import Foundation
import Gateway

/// `export`.
struct ExportCommand: GatewayCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes samples of the store to a new file that only you may read, also while the gateway runs.",
        discussion: """
            The formats: csv, a table for spreadsheets; ndjson, samples of the contract; fhir, a Bundle of FHIR R4B; open-mhealth, \
            data points of Open mHealth and IEEE 1752.1. Of the configuration only gateway, store and the devices' people are read. \
            The exit status is 1 if nothing was exported, and 78 if the configuration has errors.
            """)

    @OptionGroup var choice: ConfigurationChoice

    @Option(help: ArgumentHelp("Only this device. May be repeated.", valueName: "id"))
    var device: [String] = []

    @Option(help: ArgumentHelp("Only this person, as the configuration says. May be repeated.", valueName: "name"))
    var person: [String] = []

    @Option(help: ArgumentHelp("Only this metric, such as heart_rate. May be repeated.", valueName: "name"))
    var metric: [String] = []

    @Option(
        help: ArgumentHelp("Samples that begin on this day or later, or at this moment.", valueName: "day or time"))
    var from: String?

    @Option(
        help: ArgumentHelp(
            "Samples that begin on this day at the latest, or before this moment.", valueName: "day or time"))
    var to: String?

    @Option(help: "csv, ndjson, fhir or open-mhealth.")
    var format: String

    @Argument(help: "The new file; - for standard output.")
    var file: String

    /// The time between two lines about the progress.
    private static let pause = Duration.milliseconds(200)

    func validate() throws {
        guard let format = ExportFormat(rawValue: self.format) else {
            let names = ExportFormat.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("There is no format \(self.format). There are \(names).")
        }
        if let issue = selection.issue(for: format) { throw ValidationError(issue) }
    }

    func run(with plugins: PluginCatalogue) throws {
        guard let format = ExportFormat(rawValue: self.format) else { return }
        do {
            let tool = try ExportTool(configuration: choice.path)
            var last = ContinuousClock.now - Self.pause
            let isWatched = isatty(STDERR_FILENO) == 1
            let result = try tool.export(selection, as: format, to: file) { progress in
                guard isWatched, ContinuousClock.now - last >= Self.pause else { return }
                last = ContinuousClock.now
                let percent = min(100, progress.passed * 100 / max(progress.of, 1))
                StandardError.write("\r\(percent) %, \(progress.written) samples")
            }
            if isWatched { StandardError.write("\r\u{1B}[K") }
            for note in result.notes { StandardError.write("\(note)\n") }
            let isOutput = file == ExportTool.output
            let count = result.samples == 1 ? "1 sample" : "\(result.samples) samples"
            let text = "\(isOutput ? "Standard output" : file) has \(count).\n"
            if isOutput { StandardError.write(text) } else { StandardOutput.write(text) }
        } catch { throw choice.reported(error) }
    }

    private var selection: ExportTool.Selection {
        var selection = ExportTool.Selection()
        selection.devices = device
        selection.people = person
        selection.metrics = metric
        selection.from = from
        selection.to = to
        return selection
    }
}
