import Foundation
import GatewayKit
import JSON
import Link
import TestSupport
import Testing
import Vitals

/// The Python example, as a child process.
@Suite(.timeLimit(.minutes(1)), .enabled(if: ProcessLink.isPossible, "needs python3, 3.9 or newer"))
struct ExampleTests {
    private let always = Timestamp(milliseconds: 0)..<Timestamp(milliseconds: 4_102_444_800_000)

    /// Runs the example with arguments, and `body` with the session.
    private func withExample(
        _ arguments: [String], _ body: @Sendable (any DeviceSession) async throws -> Void
    ) async throws {
        let link = try ProcessLink(example: arguments)
        defer { link.stop() }
        try await driver().withSession(over: .bytes(link), context: try context(ManualClock())) { session in
            try await body(session)
        }
    }

    private func history(_ session: any DeviceSession) async throws -> (samples: [Sample], pages: Int) {
        var request = HistoryRequest(metric: .heartRate, from: always.lowerBound, to: always.upperBound)
        var samples: [Sample] = []
        var pages = 0
        repeat {
            let page = try await session.history(request)
            samples += page.samples
            pages += 1
            request.page = page.next
        } while request.page != nil
        return (samples, pages)
    }

    @Test func `serves the whole file in pages, and keeps a journal of the calls`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "link-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let journal = folder.appending(path: "journal")
        let file = try String(contentsOf: ProcessLink.examples.appending(path: "ppg_heart_rate.csv"), encoding: .utf8)
        let rows = file.split(whereSeparator: \.isNewline).dropFirst()
        try await withExample(["--page-size", "30", "--journal", journal.path()]) { session in
            #expect(session.description.identity.model == "CSV heart rate")
            #expect(
                session.description.capabilities.metrics == [
                    .heartRate: [
                        .measure, .monitor, .scheduleTime, .scheduleInterval, .alert, .history, .restAlert,
                        .exerciseAlert,
                    ]
                ])
            let (samples, pages) = try await history(session)
            #expect(pages == (rows.count + 29) / 30)
            #expect(samples.count == rows.count)
            #expect(samples.first?.start == Timestamp(milliseconds: 1_479_995_938_081))
            #expect(samples.first?.value == 100)
            let last = try #require(samples.last)
            try await session.acknowledgeHistory(of: .heartRate, through: last.start)
            let narrow = HistoryRequest(metric: .heartRate, from: samples[3].start, to: samples[5].start)
            #expect(try await session.history(narrow) == HistoryPage(samples: [samples[3], samples[4]]))
            await session.shutdown()
        }
        let calls = try String(contentsOf: journal, encoding: .utf8).split(separator: "\n")
            .map { try JSONValue(parsing: Array($0.utf8))["method"]?.asString }
        #expect(calls.first == "initialize")
        #expect(calls.suffix(3) == ["history/acknowledge", "history/read", "shutdown"])
    }

    @Test func `keeps its configuration, and refuses a wrong one`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "link-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let arguments = ["--state", folder.appending(path: "state.json").path()]
        let limits = AlertLimits(isEnabled: true, lower: 45, upper: 110)
        try await withExample(arguments) { session in
            #expect(try await session.monitorConfiguration(of: .heartRate).exerciseMaximum == 190)
            try await session.setMonitorConfiguration(
                try MonitorConfiguration(of: .heartRate, limits: [.resting: limits]))
            let wrong = try MonitorConfiguration(
                of: .heartRate, limits: [.resting: AlertLimits(isEnabled: true, lower: 90, upper: 80)])
            let error = await failure { try await session.setMonitorConfiguration(wrong) }
            #expect(error?.code == .invalid)
        }
        try await withExample(arguments) { session in
            let after = try await session.monitorConfiguration(of: .heartRate)
            #expect(after.limits[.resting] == limits)
            #expect(after.exerciseMaximum == 190)
            let error = await failure { try await session.monitorConfiguration(of: .stress) }
            #expect(error?.code == .unsupported)
        }
    }

    /// Reads events to the end of a measurement: the values of its samples, and whether it completed.
    private func end(
        of id: MeasurementID, _ session: any DeviceSession
    ) async throws -> (values: [Double?], isCompleted: Bool) {
        var values: [Double?] = []
        while let events = try await session.nextEvents() {
            for event in events {
                switch event {
                case .measurementSample(id, let sample):
                    #expect(sample.isUserInitiated)
                    values.append(sample.value)
                case .measurementEnded(id, let isCompleted, nil): return (values, isCompleted)
                default: Issue.record("unexpected: \(event)")
                }
            }
        }
        throw DeviceError(.disconnected, "The measurement did not end.")
    }

    @Test func `sends some samples of a measurement, and its end`() async throws {
        try await withExample(["--interval", "0.01"]) { session in
            let id = try await session.startMeasurement(of: .heartRate, duration: .seconds(1))
            let end = try await end(of: id, session)
            #expect(end.values == [100, 101, 103])
            #expect(end.isCompleted)
            try await session.stopMeasurement(id)
        }
    }

    @Test func `makes one measurement at a time, and stops it`() async throws {
        try await withExample(["--interval", "600"]) { session in
            let id = try await session.startMeasurement(of: .heartRate, duration: .seconds(1))
            let error = await failure { try await session.startMeasurement(of: .heartRate, duration: .seconds(1)) }
            #expect(error?.code == .busy)
            try await session.stopMeasurement(id)
            let end = try await end(of: id, session)
            #expect(end.values.isEmpty)
            #expect(!end.isCompleted)
        }
    }

    @Test func `is understood among garbage`() async throws {
        try await withExample(["--garbage"]) { session in
            #expect(try await history(session).samples.count > 50)
            let events = try await session.nextEvents() ?? []
            #expect(events.count >= 4)
            for event in events {
                if case .malformed = event { continue }
                Issue.record("unexpected: \(event)")
            }
        }
    }

    @Test(arguments: [("--die", DeviceError.Code.disconnected), ("--endless-line", .failure)])
    func `fails the session when it misbehaves`(fault: String, code: DeviceError.Code) async throws {
        let error = await failure { try await withExample([fault]) { session in _ = try await history(session) } }
        #expect(error?.code == code)
    }

    @Test func `answers other calls while one hangs`() async throws {
        try await withExample(["--hang", "history/read"]) { session in
            try await withThrowingTaskGroup(of: DeviceError?.self) { group in
                group.addTask { await failure { try await history(session) } }
                try await session.ping()
                _ = try await session.monitorConfiguration(of: .heartRate)
                group.cancelAll()
                #expect(try await group.next()??.code == .disconnected)
            }
        }
    }
}
