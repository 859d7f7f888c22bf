import GatewayKit
import GatewayTesting
import Logging
import TestSupport
import Testing
import Vitals

@testable import Phones

/// What an app writes must become what it means: its tests, its numbers of workouts, and the minutes after one.
@Suite struct TrueToSourceTests {
    private static let day = "2026-06-12"

    @Test func `a test of HC Webhook arrives, and nothing of it is taken`() throws {
        let text = """
            {"timestamp":"\(Self.day)T08:00:00Z","app_version":"1","test":true,
            "steps":[{"count":8432,"start_time":"\(Self.day)T00:00:00Z","end_time":"\(Self.day)T06:00:00Z"}],
            "weight":[{"kilograms":75.5,"time":"\(Self.day)T07:30:00Z"}],
            "blood_pressure":[{"systolic":118,"diastolic":76,"time":"\(Self.day)T07:45:00Z"}],
            "sleep":[{"session_end_time":"\(Self.day)T07:00:00Z","stages":[
            {"stage":"deep","start_time":"\(Self.day)T00:00:00Z","end_time":"\(Self.day)T07:00:00Z"}]}]}
            """
        let log = LogRecorder()
        try Simulation.run(seed: 1, deadline: .days(1)) { simulation in
            let link = ScriptedDocuments()
            try await PhoneDriver<HealthConnectWebhook>().withSession(
                over: .documents(link), context: Phone.context(clock: simulation.gatewayClock, logger: log.logger)
            ) { session in
                var report = DocumentReport()
                report.skip("the values of a test, which are invented")
                #expect(try await link.send(text).answered() == .stored(report))
                // The next one is no test.
                let real = link.send(text.replacing("\"test\":true", with: "\"test\":false"))
                let (samples, receipts) = try #require(try await session.nextEvents()?.first?.asSamples)
                #expect(samples.count == 4)
                try await session.settle(receipts.map { SettledReceipt($0, .new) })
                _ = try await real.answered()
            }
        }
        let infos = log.entries.filter { $0.level == .info && "\($0.message)".contains("A test of the app") }
        #expect(infos.count == 1)
    }

    @Test func `only the truth in its own place makes a test`() throws {
        for member in [#""test":"true""#, #""test":1"#, #""test":null"#, #""x":{"test":true}"#] {
            let text = "{\"timestamp\":\"2026-06-12T08:00:00Z\",\(member)}"
            #expect(try !HealthConnectWebhook.records(of: Array(text.utf8), calendar: Phone.berlin, source: nil).isTest)
        }
    }

    @Test(arguments: [
        (#""56""#, "running"), ("56", "running"), (#""79""#, "walking"), (#""RUNNING""#, "running"),
        (#""999""#, "type_999"),
        ("null", "unknown"),
    ])
    func `a workout of Health Connect's number has its name`(type: String, name: String) throws {
        let times = #""start_time":"2026-06-12T06:00:00Z","end_time":"2026-06-12T06:40:00Z""#
        let text = "{\"exercise\":[{\"type\":\(type),\(times)}]}"
        let samples = try Phone.records(Array(text.utf8), of: HealthConnectWebhook.self).samples
        #expect(samples.map(\.reading) == [.sport(Sport(activity: name))])
    }

    /// A workout of half an hour with heart rates of these minutes after its beginning.
    private func sport(_ minutes: Range<Int>, _ rate: (Int) -> Int) throws -> Reading? {
        let start = Phone.at("2026-06-12T07:00:00Z")
        let rates = minutes.map { minute in
            let (date, value) = (start + .minutes(minute), rate(minute))
            return "{\"date\":\"\(date)\",\"Min\":\(value),\"Avg\":\(value),\"Max\":\(value),\"units\":\"bpm\"}"
        }.joined(separator: ",")
        // The heart rates come before the times.
        let workout =
            "{\"name\":\"Run\",\"heartRateData\":[\(rates)],\"start\":\"\(start)\",\"end\":\"\(start + .minutes(30))\"}"
        let text = "{\"data\":{\"workouts\":[\(workout)]}}"
        return try Phone.records(Array(text.utf8), of: HealthAutoExport.self).samples.first?.reading
    }

    @Test func `the recovery after a workout is no part of it`() throws {
        #expect(try sport(30..<54) { 150 - ($0 - 30) * 60 / 23 } == .sport(Sport(activity: "run")))
        // Of a list over both, what is within counts.
        #expect(
            try sport(-5..<54) { $0 < 0 ? 70 : $0 < 30 ? 120 + $0 : 150 - ($0 - 30) * 60 / 23 }
                == .sport(Sport(activity: "run", minimumHeartRate: 120, maximumHeartRate: 149)))
    }

    @Test(arguments: [HealthAutoExport.driver, HealthConnectWebhook.driver])
    func `records of ten minutes and of ten days ahead are told to the gateway as they are`(driver: String) throws {
        let now = Phone.at("2026-06-12T07:00:00Z")
        for ahead in [Duration.minutes(10), .days(10)] {
            let (start, end) = (now + ahead, now + ahead + .minutes(1))
            let samples: [Sample]
            if driver == HealthAutoExport.driver {
                let entry = "{\"start\":\"\(start)\",\"end\":\"\(end)\",\"qty\":5,\"source\":\"Watch\"}"
                let text = "{\"data\":{\"metrics\":[{\"name\":\"step_count\",\"data\":[\(entry)]}]}}"
                samples = try Phone.records(Array(text.utf8), of: HealthAutoExport.self).samples
            } else {
                let text = "{\"steps\":[{\"start_time\":\"\(start)\",\"end_time\":\"\(end)\",\"count\":5}]}"
                samples = try Phone.records(Array(text.utf8), of: HealthConnectWebhook.self).samples
            }
            // It refuses them until their time has come.
            #expect(
                samples == [Sample(metric: .steps, start: start, end: end, reading: .count(Increment(count: 5)))])
        }
    }
}
