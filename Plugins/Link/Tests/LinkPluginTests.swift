import Foundation
import GatewayKit
import JSON
import TestSupport
import Testing
import Vitals

@testable import Link

@Suite struct LinkPluginTests {
    private var folder: URL { URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent() }

    @Test func `has the sections that every plugin's README has`() throws {
        let text = try String(contentsOf: folder.appending(path: "README.md"), encoding: .utf8)
        let headings = text.split(separator: "\n").filter { $0.hasPrefix("## ") }
        #expect(headings == ["## What", "## Devices", "## Configuration", "## Limits", "## How it was tested"])
    }

    @Test func `names every method in the protocol's documentation`() throws {
        let text = try String(contentsOf: folder.appending(path: "Protocol.md"), encoding: .utf8)
        let calls = [
            "initialize", "time/set", "history/read", "history/acknowledge", "summary/read", "monitor/read",
            "monitor/write", "measurement/start", "measurement/stop", "ping", "shutdown",
        ]
        for method in calls + PeerMethod.allCases.map(\.rawValue) { #expect(text.contains("`\(method)`"), "\(method)") }
        for member in SampleMembers.Key.allCases { #expect(text.contains("`\(member.rawValue)`"), "\(member)") }
        for metric in Metric.allCases where metric != .battery {
            #expect(text.contains("`\(metric.rawValue)`"), "\(metric)")
            for known in metric.qualifiers {
                for word in known.words + [known.qualifier.rawValue] { #expect(text.contains("`\(word)`"), "\(word)") }
            }
        }
        for (name, _) in Abilities.named { #expect(text.contains("`\(name)`"), "\(name)") }
    }

    @Test func `reads every sample that a device can write`() throws {
        let start = Timestamp(milliseconds: 1_763_683_200_000)
        let samples = [
            Sample(metric: .heartRate, start: start, isExercise: true, revision: 2, user: 1, reading: .value(61.5)),
            Sample(metric: .stress, start: start, kind: .minimum, isUserInitiated: true, reading: .value(0)),
            Sample(
                metric: .bloodPressure, start: start,
                reading: .bloodPressure(BloodPressure(systolic: 120, diastolic: 80, pulse: 60))),
            Sample(
                metric: .steps, start: start, end: start + .minutes(1),
                reading: .count(Increment(count: 90, distance: 60.5, energy: nil))),
            Sample(
                metric: .sleep, start: start, end: start + .hours(2),
                reading: .sleep(
                    Sleep(stages: [
                        .init(.deep, from: start, to: start + .hours(1)),
                        .init(.awake, from: start + .hours(1), to: start + .hours(2)),
                    ]))),
            Sample(
                metric: .sport, start: start, end: start + .hours(1),
                reading: .sport(
                    Sport(
                        activity: "running", distance: 9_000, energy: 700, steps: 9_500, minimumHeartRate: 90,
                        averageHeartRate: 150, maximumHeartRate: 180))),
        ]
        var writer = JSONWriter()
        for sample in samples { writer.linkSampleLine(sample) }
        var splitter = LineSplitter()
        var inbound = Inbound()
        splitter.append(writer.bytes)
        while let line = try splitter.next() { inbound.receive(line, of: splitter.bytes) }
        inbound.flush()
        #expect(inbound.events == [.samples(samples, receipts: [])])
    }
}
