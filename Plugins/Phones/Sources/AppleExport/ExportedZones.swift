import Foundation
import Vitals

/// The zones in which records were measured, by their names, and those of the stages of sleep that wait for the end of their nights.
final class ExportedZones {
    /// The most zones that are kept in mind, and times of stages with one zone: a journey has two.
    static let maximumRuns = 10_000

    /// Stages that follow each other in the file and name the same zone, or none.
    private struct Run {
        var zone: String?
        var from: Timestamp
        var to: Timestamp
    }
    private var runs: [Run] = []
    private var calendars: [String: OffsetCache?] = [:]

    /// Notes the zone of a stage.
    func add(_ zone: String?, from start: Timestamp, to end: Timestamp) {
        if let last = runs.indices.last, runs[last].zone == zone {
            runs[last].from = min(runs[last].from, start)
            runs[last].to = max(runs[last].to, end)
        } else if runs.count < Self.maximumRuns {
            runs.append(Run(zone: zone, from: start, to: end))
        }
    }

    /// The zone of the stages that ended then.
    func zone(ofEnd end: Timestamp) -> String? { runs.last { $0.from < end && end <= $0.to }?.zone }

    func removeRuns() { runs = [] }

    /// Minutes by which a zone is ahead of UTC at a moment; `nil` for an unknown one.
    func minutes(of zone: String, at moment: Timestamp) -> Int16? {
        if calendars[zone] == nil, calendars.count < Self.maximumRuns {
            calendars.updateValue(LocalCalendar(identifier: zone).map { OffsetCache($0) }, forKey: zone)
        }
        return (calendars[zone]??.minutes(at: moment)).map { Int16($0) }
    }
}

extension Record {
    /// The same record, measured in this zone.
    func located(_ zones: ExportedZones, _ zone: String?) -> Record {
        guard let zone, case .sample(var sample) = self else { return self }
        sample.utcOffset = zones.minutes(of: zone, at: DailySummary.decisiveMoment(of: sample))
        return .sample(sample)
    }
}
