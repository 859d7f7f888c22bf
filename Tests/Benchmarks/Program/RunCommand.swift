import ArgumentParser
import Foundation
import Glibc

/// Measures and reports. Every process that it starts ends with it.
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "run", abstract: "Measures the gateway.")

    /// The parts to measure, in the order of the report.
    enum Part: String, CaseIterable, ExpressibleByArgument {
        case bare, live, history, export, latency, outage, kill, footprint, offline, start, wear, counts

        func measure(_ settings: RunSettings) throws -> [Figure] {
            switch self {
            case .bare: try BareFigures.measure(settings)
            case .live: try LiveFigures.measure(settings)
            case .history: try HistoryFigures.measure(settings)
            case .export: try ExportFigures.measure(settings)
            case .latency: try LatencyFigures.measure(settings)
            case .outage: try OutageFigures.measure(settings)
            case .kill: try KillFigures.measure(settings)
            case .footprint: try FootprintFigures.measure(settings)
            case .offline: try OfflineFigures.measure(settings)
            case .start: try StartFigures.measure(settings)
            case .wear: try WearFigures.measure(settings)
            case .counts: try CountFigures.measure(settings)
            }
        }
    }

    @Option(help: "The gateway's program.") var gateway: String
    @Option(help: "An empty folder for what goes afterwards.") var work: String
    @Option(help: "A folder that keeps the large store for the next run.") var cache: String?
    @Option(help: "Parts to measure, with commas: \(Part.allCases.map(\.rawValue).joined(separator: ",")).")
    var only: String?
    @Option(help: "A file for the figures as JSON.") var json: String?
    @Option(help: "Seconds after which no further part is begun.") var limit = 2400.0
    @Flag(help: "Fails if a part misses an aim in each of \(AimCheck.attempts) attempts, or loses a sample in one.")
    var check = false
    @Flag(help: "Shorter: the figures waver more, and the large store has a million samples.") var quick = false

    func validate() throws { _ = try parts() }

    func run() throws {
        signal(SIGPIPE, SIG_IGN)
        let settings = RunSettings(
            gateway: gateway, work: URL(filePath: work), cache: cache.map { URL(filePath: $0) }, isQuick: quick)
        var report = Report()
        let began = Instant.steady
        Report.begin()
        for part in try parts() {
            guard Instant.seconds(since: began) < limit else {
                report.fail(part.rawValue, BenchError("The time is over; ask for it with --only \(part.rawValue)."))
                continue
            }
            do {
                var aims = AimCheck()
                repeat {
                    let figures = try part.measure(settings)
                    report.add(figures)
                    aims.check(figures)
                } while check && aims.wantsAnother && Instant.seconds(since: began) < limit
                for figure in aims.missed where check {
                    report.fail(part.rawValue, BenchError("\(figure.title): the aim is missed."))
                }
            } catch { report.fail(part.rawValue, error) }
        }
        if let json { try Data(report.json(of: settings)).write(to: URL(filePath: json)) }
        if !report.failures.isEmpty { throw ExitCode.failure }
    }

    private func parts() throws -> [Part] {
        guard let only else { return Part.allCases }
        return try only.split(separator: ",").map { name in
            guard let part = Part(rawValue: String(name)) else {
                throw ValidationError("There is no part \(name); see --help.")
            }
            return part
        }
    }
}
