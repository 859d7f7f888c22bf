import CoreMetrics
import MetricsTestKit
import TestSupport
import Testing
import Vitals

@testable import Web

/// What a program that embeds the gateway gets by swift-metrics.
@Suite struct MetricsReporterTests {
    @Test func `swift-metrics gets every row of the metrics page, with its value`() async throws {
        let (gateway, metrics) = (try ShownGateway.withBand(), TestMetrics())
        var instruments = ReportedInstruments(metrics)
        await MetricsPage.write(gateway, withVitals: true, to: &instruments)
        instruments.endReport()
        var text = MetricsText()
        await MetricsPage.write(gateway, withVitals: true, to: &text)
        let rows = String(decoding: text.bytes, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(rows.count > 60)
        #expect(metrics.counters.count + metrics.meters.count == rows.count)
        let stored = try metrics.expectCounter(
            "vitals2mqtt_pipeline_messages_total", [("stage", "stored"), ("lane", "live")])
        #expect(stored.totalValue == 7)
        let signal = try metrics.expectMeter("vitals2mqtt_device_signal_strength_dbm", [("device", "band-1")])
        #expect(signal.lastValue == -60)
    }

    @Test func `a counter rises by what came since the last report, and begins again where it fell`() throws {
        let metrics = TestMetrics()
        var instruments = ReportedInstruments(metrics)
        let family = MetricFamily("tries_total", "Tries.", kind: .counter)
        for count in [3, 3, 10, 4] {
            instruments.add(family, Double(count), ["device": "band-1"])
            instruments.endReport()
        }
        let counter = try metrics.expectCounter("vitals2mqtt_tries_total", [("device", "band-1")])
        #expect(counter.totalValue == 14)
        // What is no number is left out, as on the page.
        instruments.add(MetricFamily("other", "Other."), .nan, [:])
        #expect(metrics.meters.isEmpty)
        // What has no row any more is gone.
        instruments.endReport()
        #expect(metrics.counters.isEmpty)
    }

    @Test func `reports come in the interval until the gateway ends, and none without a factory`() async throws {
        let (gateway, metrics, clock) = (try ShownGateway.withBand(), TestMetrics(), ManualClock())
        await MetricsReporter(
            of: gateway, withVitals: false, clock: clock.gatewayClock, to: NOOPMetricsHandler.instance
        )
        .run()
        try await withThrowingTaskGroup(of: Void.self) { group in
            let reporter = MetricsReporter(of: gateway, withVitals: false, clock: clock.gatewayClock, to: metrics)
            group.addTask { await reporter.run() }
            #expect(try await clock.nextSleep() == MetricsReporter.interval)
            let devices = try metrics.expectMeter("vitals2mqtt_devices")
            #expect(devices.values == [1])
            clock.advance(by: MetricsReporter.interval)
            _ = try await clock.nextSleep()
            #expect(devices.values == [1, 1])
            group.cancelAll()
            try await group.waitForAll()
        }
        #expect(metrics.meters.isEmpty && metrics.counters.isEmpty)
    }
}
