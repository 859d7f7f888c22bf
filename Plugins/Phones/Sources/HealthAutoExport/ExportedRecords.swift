import GatewayKit
import JSON
import Vitals

/// The records of an export, section by section. The stages of sleep come as nights at the end.
struct ExportedRecords: RecordStream {
    private let document: [UInt8]
    private let calendar: LocalCalendar
    private let sections: [HealthAutoExport.Contents.Section]
    private var place = 0
    /// Within the array of the section.
    private var reader: JSONReader?
    /// How long the intervals of the section may be whose entries do not say that.
    private var period = Duration.days(1)
    /// What the dates of the section say of how it is summed up.
    private var dates = SectionDates()
    private var nights = Nights()
    /// The earliest time of a record: about when the window of the document begins.
    private var earliest: Timestamp?
    /// What comes after the record before it, of the same entry.
    private var following: Record?
    /// Entries of `metrics` that are no object and were not counted yet.
    private var strayEntries: Int
    private(set) var sources: CountSources
    /// The app has no test with values.
    let isTest = false

    init(
        _ contents: HealthAutoExport.Contents, of document: [UInt8], calendar: LocalCalendar, sources: CountSources
    ) {
        self.sources = sources
        sections = contents.sections
        strayEntries = contents.strayEntries
        self.document = document
        self.calendar = calendar
    }

    mutating func next() throws(DocumentProblem) -> Record? {
        do throws(JSONError) { return try nextRecord() } catch { throw DocumentProblem(error) }
    }

    private mutating func nextRecord() throws(JSONError) -> Record? {
        if let record = following {
            following = nil
            return record
        }
        if strayEntries > 0 {
            strayEntries -= 1
            return .noObject(in: "metrics")
        }
        while place < sections.count {
            let section = sections[place]
            if case .noList(let name) = section.kind {
                place += 1
                return .skipped("\(name) whose data is no list")
            }
            if reader == nil {
                var opened = JSONReader(document, range: section.range)
                dates = try readDates(of: section)
                period = dates.longestInterval
                if try opened.looseArray() { reader = opened }
            }
            guard var entries = reader, try entries.nextElement() else {
                reader = nil
                place += 1
                continue
            }
            let record = try read(&entries, section.kind)
            reader = entries
            guard let record else { continue }
            switch record {
            case .sample(let sample), .nothing(let sample, _): note(sample.start)
            default: break
            }
            return record
        }
        guard var night = nights.next() else { return nil }
        // A stage that began before the window is not in the document.
        if let earliest, night.start - earliest <= Nights.gap { night.claim = .part }
        return Record.sample(night).from(sources.origin(of: NamedSource(merged: nights.source)))
    }

    private mutating func note(_ start: Timestamp) { earliest = min(earliest ?? start, start) }

    private func readDates(of section: HealthAutoExport.Contents.Section) throws(JSONError) -> SectionDates {
        var found = SectionDates()
        guard case .metric(let name, _) = section.kind, let metric = ExportedMetric(name: name)?.metric,
            metric != .sleep
        else { return found }
        var dates = JSONReader(document, range: section.range)
        guard try dates.looseArray() else { return found }
        let keys = JSONWords<Bool>([("date", true), ("start", true), ("startDate", true)])
        while !found.areSingle, try dates.nextElement() {
            guard try dates.looseObject() else { continue }
            while try dates.nextKey(in: keys) != nil {
                if let time = try dates.looseText().flatMap({ PhoneTime.timeOfDay($0) }) { found.add(time) }
            }
        }
        return found
    }

    /// Reads an entry; `nil` if it is a stage of a sleep, or part of another record.
    private mutating func read(
        _ reader: inout JSONReader, _ kind: HealthAutoExport.Contents.Section.Kind
    ) throws(JSONError) -> Record? {
        switch kind {
        case .workouts:
            guard try reader.isAtObject() else { return .noObject(in: "workouts") }
            return try ExportedWorkout(&reader, calendar: calendar).record
        case .notifications:
            guard try reader.isAtObject() else { return .noObject(in: "heartRateNotifications") }
            return try ExportedNotification(&reader, calendar: calendar).record
        case .ecg:
            guard try reader.isAtObject() else { return .noObject(in: "ecg") }
            let recording = try ExportedECG(&reader, calendar: calendar)
            if recording.hasVoltages { following = .leftOut("the voltages of an ECG") }
            return recording.record
        case .leftOut(let name):
            try reader.skip()
            return .leftOut(name)
        // One without a list has no entries.
        case .noList(let name), .other(let name):
            try reader.skip()
            return .skipped("the gateway has no \(name)")
        case .metric(let name, let unit):
            guard let metric = ExportedMetric(name: name) else {
                try reader.skip()
                return .skipped("the gateway has no \(name)")
            }
            guard try reader.isAtObject() else { return .noObject(in: name) }
            let entry = try ExportedEntry(&reader, calendar: calendar)
            if metric.metric == .sleep { return add(entry, unit) }
            if metric.metric.shape == .count, let reason = sources.skip(name, from: entry.source) {
                return .skipped(reason)
            }
            var source = NamedSource(merged: entry.source)
            if let part = metric.part {
                let name = source?.name
                source = source ?? NamedSource(name: "", kind: .other)
                source?.name = name.map { "\($0) \(part)" } ?? part
            }
            let record = metric.record(of: entry, name: name, unit: unit, period: period).from(
                sources.origin(of: source))
            return entry.end == nil && entry.day == nil ? record.summed(dates.minutes(of: metric.metric)) : record
        }
    }

    /// Adds a stage of a sleep; returns why it is skipped, or the sleep itself if it has totals and no stages.
    private mutating func add(_ entry: ExportedEntry, _ unit: String?) -> Record? {
        guard let word = entry.word else {
            guard !entry.night.isEmpty else { return .skipped("a sleep without stages and totals") }
            return entry.night.record(in: unit).from(sources.origin(of: NamedSource(merged: entry.source)))
        }
        guard let start = entry.start, let end = entry.end, start <= end else {
            return .skipped("a stage of sleep without readable times")
        }
        guard let depth = Sleep.Stage.Depth(exported: word) else {
            return .skipped("a time of sleep without its depth: \(word.quoted)")
        }
        note(start)
        nights.add(Sleep.Stage(depth, from: start, to: end), source: entry.source)
        return nil
    }
}

extension Sleep.Stage.Depth {
    /// The depth for the app's name of it; `nil` for an unknown one.
    fileprivate init?(exported word: String) {
        switch word.lowercased().filter({ $0.isLetter }) {
        case "core", "asleepcore", "light": self = .light
        case "deep", "asleepdeep": self = .deep
        case "rem", "asleeprem": self = .rem
        case "awake": self = .awake
        case "asleep", "asleepunspecified", "unspecified": self = .asleep
        case "inbed": self = .inBed
        default: return nil
        }
    }
}
