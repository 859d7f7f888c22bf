import Foundation
import GatewayKit
import Testing
import Vitals

@testable import Link

/// Lines from devices in `Fixtures/<case>/input.jsonl`, with the expected result in `expected.txt`.
@Suite struct FixtureTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")

    private static var cases: [String] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path())
        return (names ?? []).sorted()
    }

    @Test func `finds the cases`() { #expect(Self.cases.count >= 4) }

    @Test(arguments: cases)
    func `makes of captured lines what is expected`(name: String) throws {
        let folder = Self.folder.appending(path: name)
        let input = [UInt8](try Data(contentsOf: folder.appending(path: "input.jsonl")))
        let expected = try String(contentsOf: folder.appending(path: "expected.txt"), encoding: .utf8)
        var splitter = LineSplitter()
        var inbound = Inbound()
        splitter.append(input)
        while let line = try splitter.next() { inbound.receive(line, of: splitter.bytes) }
        inbound.flush()
        let found = inbound.text
        #expect(found == expected, "found:\n\(found)")
    }
}

extension Inbound {
    /// The result of the lines as text: events, answers, replies, log.
    fileprivate var text: String {
        var lines: [String] = []
        for event in events {
            if case .samples(let samples, let receipts) = event {
                lines.append("samples \(samples.count), receipts \(receipts.map(\.mark))")
                for sample in samples { lines.append("  \(sample.text)") }
            } else if case .measurementSample(let measurement, let sample) = event {
                lines.append("measurement \(measurement.text): \(sample.text)")
            } else {
                lines.append(event.text)
            }
        }
        for (id, answer) in answers {
            switch answer {
            case .success(let bytes): lines.append("answer \(id): \(String(decoding: bytes, as: UTF8.self))")
            case .failure(let error): lines.append("answer \(id): \(error.code.rawValue): \(error.message)")
            }
        }
        lines += String(decoding: replies.bytes, as: UTF8.self).split(separator: "\n").map { "reply \($0)" }
        for (level, message) in logs { lines.append("log \(level): \(message)") }
        return lines.map { $0 + "\n" }.joined()
    }
}

extension DeviceEvent {
    fileprivate var text: String {
        switch self {
        case .measurementEnded(let id, let completed, let error):
            "measurement \(id.text) ended, completed \(completed), error \(error?.code.rawValue ?? "none")"
        case .battery(let percent, let isCharging): "battery \(percent) \(isCharging.map { "\($0)" } ?? "?")"
        case .wear(let isWorn): "worn \(isWorn)"
        case .alert(let alert):
            "alert \(alert.rule.name) \(alert.edge.rawValue) \(alert.value.map { "\($0)" } ?? "?") \(alert.at.milliseconds)"
        case .readingFailed(let id, let error): "reading of \(id.text) failed, error \(error.code.rawValue)"
        case .signal(let strength): "signal \(strength)"
        case .unreadable(let sample):
            "unreadable \(sample.metric?.rawValue ?? "?") \(sample.measurement?.text ?? "live"): \(sample.problem)"
        case .malformed(let reason): "malformed: \(reason)"
        case .samples, .measurementSample, .alerts, .warnings, .skipped, .progress: ""
        }
    }
}

extension Sample {
    fileprivate var text: String {
        var parts = ["\(metric.rawValue) \(start.milliseconds)+\((end - start).inMilliseconds) \(kind.rawValue)"]
        if isUserInitiated { parts.append("manual") }
        if let isExercise { parts.append("exercise \(isExercise)") }
        if let revision { parts.append("rev \(revision)") }
        if let user { parts.append("user \(user)") }
        for qualifier in Qualifier.allCases {
            if let word = qualifiers[qualifier] { parts.append("\(qualifier.rawValue) \(word)") }
        }
        func add(_ name: String, _ number: Double?) {
            if let number { parts.append("\(name) \(number)") }
        }
        switch reading {
        case .value(let value): add("value", value)
        case .bloodPressure(let pressure):
            parts.append("\(pressure.systolic)/\(pressure.diastolic)")
            add("pulse", pressure.pulse)
        case .count(let steps):
            parts.append("count \(steps.count)")
            if steps.thousandths != 0 { parts.append("and \(steps.thousandths) thousandths") }
            add("m", steps.distance)
            add("kcal", steps.energy)
        case .sleep(let sleep):
            parts.append("asleep \(sleep.minutesAsleep), awake \(sleep.minutes(.awake))")
            if sleep.minutes(.inBed) > 0 { parts.append("in bed \(sleep.minutes(.inBed))") }
        case .sport(let sport):
            parts.append("\(sport.activity) steps \(sport.steps ?? -1)")
            add("m", sport.distance)
            add("kcal", sport.energy)
            add("min", sport.minimumHeartRate)
            add("avg", sport.averageHeartRate)
            add("max", sport.maximumHeartRate)
        }
        return parts.joined(separator: ", ")
    }
}
