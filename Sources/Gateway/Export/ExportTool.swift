import Foundation
import GatewayKit
import Store
package import Vitals

/// Exports samples from the store of a configuration, while a gateway may be running.
package struct ExportTool: Sendable {
    /// Which samples. An empty list is all.
    package struct Selection: Sendable {
        package var devices: [String] = []
        package var people: [String] = []
        package var metrics: [String] = []
        /// The first day or moment at which a sample may begin; a day is one of the gateway's time zone.
        package var from: String?
        /// The last day, or the first moment at which none may begin any more.
        package var to: String?

        package init() {}

        /// Why this is no choice, whatever the store has; `nil` if it is one.
        package func issue(for format: ExportFormat) -> String? {
            if format.needsPerson, people.isEmpty {
                return "--format \(format.rawValue) needs --person: each value is one of a patient."
            }
            for (option, text) in [("--from", from), ("--to", to)] {
                guard let text, LocalDay(text) == nil, Timestamp(rfc3339: text) == nil else { continue }
                return "\(option) takes a day such as 2026-05-14, or a moment such as 2026-05-14T08:00:00+02:00."
            }
            for name in metrics where Metric(rawValue: name) == nil {
                let names = Metric.allCases.map(\.rawValue).joined(separator: ", ")
                return "There is no metric \(name). There are \(names)."
            }
            return nil
        }
    }

    /// How far an export is.
    package struct Progress: Sendable {
        package var written = 0
        /// All samples of the devices and metrics, about.
        package var of = 0
        package var passed = 0
    }

    /// What was exported.
    package struct Result: Sendable {
        package var samples = 0
        /// What was left out, one line each.
        package var notes: [String] = []
    }

    /// The name of standard output in place of a file.
    package static let output = "-"
    /// The bytes that are collected for one write.
    private static let chunk = 64 << 10

    private let household: Household

    /// The store and the people of a configuration file. Nothing else of it is checked.
    /// - Throws: `ConfigurationError` if it cannot be read, or these parts have errors.
    package init(configuration file: String) throws(ConfigurationError) {
        household = try ConfigurationLoader.household(in: file)
    }

    init(_ household: Household) { self.household = household }

    /// Writes a new file, or standard output. No file is left if that fails.
    /// - Parameter report: is told how far it is after each page.
    /// - Throws: `ToolFailure` if the store has nothing of the kind, or cannot be read, or the file cannot be written.
    package func export(
        _ selection: Selection, as format: ExportFormat, to file: String,
        now: Timestamp? = nil, report: (Progress) -> Void = { _ in }
    ) throws(ToolFailure) -> Result {
        if let issue = selection.issue(for: format) { throw ToolFailure(issue) }
        let range = try self.range(of: selection)
        for person in selection.people where !household.people.contains(person) {
            let names = household.people.isEmpty ? "none" : household.people.joined(separator: ", ")
            throw ToolFailure("There is no person \(person) in the configuration. It has \(names).")
        }
        do throws(StoreError) {
            let target = try file == Self.output ? nil : NewFile(file)
            let result = try StoreExport.read(household.store) { (store: StoreExport) throws -> Result in
                let all = try chosen(selection, of: try store.series())
                let scope = ExportScope(
                    household: household, devices: try devices(of: all), people: Set(selection.people).sorted(),
                    madeAt: now ?? GatewayClock.system.now)
                var run = Run(writer: format.writer(for: scope), people: Set(selection.people)) { bytes in
                    if let target { try target.write(bytes) } else { try Self.print(bytes) }
                }
                run.progress.of = all.reduce(0) { $0 + $1.samples }
                for series in all {
                    let wearers = household.devices.first { $0.id == series.device }?.wearers ?? Wearers()
                    try run.add(series, of: store, range, wearers, report)
                }
                try run.end()
                return run.result
            }
            guard result.samples > 0 else {
                throw StoreError(.unavailable, (["Nothing was exported."] + result.notes).joined(separator: "\n"))
            }
            try target?.complete()
            return result
        } catch {
            throw ToolFailure(error.message)
        }
    }

    /// The moments at which samples may begin.
    private func range(of selection: Selection) throws(ToolFailure) -> Range<Timestamp> {
        let calendar = household.calendar
        var (lower, upper) = (Timestamp(milliseconds: .min), Timestamp(milliseconds: .max))
        if let text = selection.from {
            lower = LocalDay(text).map { calendar.bounds(of: $0).lowerBound } ?? Timestamp(rfc3339: text) ?? lower
        }
        if let text = selection.to {
            upper = LocalDay(text).map { calendar.bounds(of: $0).upperBound } ?? Timestamp(rfc3339: text) ?? upper
        }
        guard lower < upper else { throw ToolFailure("--from must be before --to.") }
        return lower..<upper
    }

    private func chosen(
        _ selection: Selection, of all: [StoreExport.Series]
    ) throws(StoreError) -> [StoreExport.Series] {
        let ids = Set(all.map(\.device.text)).union(household.devices.map(\.id.text))
        for name in selection.devices where !ids.contains(name) {
            let names = ids.isEmpty ? "none" : ids.sorted().joined(separator: ", ")
            throw StoreError(
                .unavailable, "There is no device \(name) in the store or the configuration. There are \(names).")
        }
        return all.filter { series in
            (selection.devices.isEmpty || selection.devices.contains(series.device.text))
                && (selection.metrics.isEmpty || selection.metrics.contains(series.metric.rawValue))
                && (selection.people.isEmpty || isWorn(series.device, by: selection.people))
        }
    }

    private func isWorn(_ device: DeviceID, by people: [String]) -> Bool {
        guard let wearers = household.devices.first(where: { $0.id == device })?.wearers else { return false }
        return ([wearers.person].compactMap(\.self) + wearers.people.values).contains(where: people.contains)
    }

    private func devices(
        of series: [StoreExport.Series]
    ) throws(StoreError) -> [(id: DeviceID, identity: DeviceIdentity?)] {
        let ids = Set(series.map(\.device)).sorted { $0.text < $1.text }
        let records = try KnownDevices.profiles(of: ids, in: household.store)
        return ids.map { ($0, records[$0]?.identity) }
    }

    private static func print(_ bytes: [UInt8]) throws(StoreError) {
        do { try FileHandle.standardOutput.write(contentsOf: Data(bytes)) } catch {
            throw StoreError(.unavailable, "Standard output cannot be written: \(error.localizedDescription)")
        }
    }

    /// One export under way.
    private struct Run {
        var writer: any SampleWriter
        let people: Set<String>
        let sink: ([UInt8]) throws -> Void
        var progress = Progress()
        private var hasBegun = false
        private var bytes: [UInt8] = []
        private var omitted: [Omission: Int] = [:]

        private struct Omission: Hashable {
            var metric: Metric
            var reason: OmittedSample
        }

        init(writer: any SampleWriter, people: Set<String>, sink: @escaping ([UInt8]) throws -> Void) {
            self.writer = writer
            self.people = people
            self.sink = sink
        }

        var result: Result {
            let notes = omitted.sorted { a, b in
                a.key.metric.index != b.key.metric.index
                    ? a.key.metric.index < b.key.metric.index : a.key.reason.rawValue < b.key.reason.rawValue
            }.map { "\($0.key.metric): \($0.value) left out, since \($0.key.reason.rawValue)." }
            return Result(samples: progress.written, notes: notes)
        }

        mutating func add(
            _ series: StoreExport.Series, of store: StoreExport, _ range: Range<Timestamp>, _ wearers: Wearers,
            _ report: (Progress) -> Void
        ) throws {
            var after: SampleKey?
            var isLast = false
            repeat {
                let page = try store.page(of: series, starting: range, after: after)
                isLast = page.isLast
                for stored in page.samples { try add(stored, of: series.device, wearers) }
                progress.passed += page.samples.count
                after = page.samples.last.map { SampleKey($0.sample) } ?? after
                report(progress)
            } while !isLast
        }

        private mutating func add(_ stored: StoredSample, of device: DeviceID, _ wearers: Wearers) throws {
            // What waits for its person is nobody's yet.
            guard Question(stored) == nil else { return }
            let person = wearers.person(user: stored.sample.user)
            guard people.isEmpty || person.map(people.contains) ?? false else { return }
            if !hasBegun {
                writer.begin(&bytes)
                hasBegun = true
            }
            let item = ExportedSample(stored: stored, device: device, person: person)
            if let reason = writer.add(item, to: &bytes) {
                omitted[Omission(metric: item.metric, reason: reason), default: 0] += 1
            } else {
                progress.written += 1
            }
            if bytes.count >= ExportTool.chunk { try flush() }
        }

        mutating func end() throws {
            guard progress.written > 0 else { return }
            writer.end(&bytes)
            try flush()
        }

        private mutating func flush() throws {
            try sink(bytes)
            bytes.removeAll(keepingCapacity: true)
        }
    }
}
