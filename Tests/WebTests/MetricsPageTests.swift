import Testing
import Vitals

@testable import Web

/// What `/metrics` says of a gateway.
@Suite struct MetricsPageTests {
    private func lines(_ gateway: ShownGateway, withVitals: Bool = false, maximum: Int = 1 << 20) async -> [String] {
        let page = MetricsPage(of: gateway, withVitals: withVitals, maximum: maximum)
        let answer = await page.answer(to: WebRequest(path: "/metrics"))
        answer.onEnd()
        return String(decoding: answer.body, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test func `has every counter of gateway-state, the stages, and each device's condition`() async throws {
        let lines = Set(await lines(try ShownGateway.withBand()))
        let wanted = [
            "info{version=\"0.1.0\",protocol=\"5\"} 1", "start_timestamp_seconds 1000", "clock_timestamp_seconds 2000",
            "clock_synchronized 1", "ready 1", "late_parts 0", "broker_connected 1", "configuration_refused 0",
            "store_disk_free_bytes 1073741824", "in_flight_messages 0",
            "pipeline_messages_total{stage=\"stored\",lane=\"live\"} 7", "state_timestamp_seconds 1900",
            "outbox_messages{lane=\"live\"} 3", "outbox_messages{lane=\"alert\"} 0",
            "outbox_oldest_timestamp_seconds 1500.25", "dropped_total{class=\"history\"} 4",
            "dropped_total{class=\"refused\"} 0", "quarantined_messages 1", "store_size_bytes 81920",
            "statistics_state{state=\"importing\"} 1", "statistics_state{state=\"idle\"} 0", "statistics_due_series 2",
            "statistics_last_import_timestamp_seconds 5", "devices 1", "metrics_omitted_devices 0",
            "device_link_state{device=\"band-1\",state=\"waiting\"} 1",
            "device_link_state{device=\"band-1\",state=\"connected\"} 0", "device_link_attempts{device=\"band-1\"} 3",
            "device_signal_strength_dbm{device=\"band-1\"} -60", "device_clock_skew_seconds{device=\"band-1\"} -1.5",
            "device_online{device=\"band-1\"} 1", "device_offline_after_seconds{device=\"band-1\"} 86400",
            "device_last_sample_timestamp_seconds{device=\"band-1\"} 1950",
            "device_battery_ratio{device=\"band-1\"} 0.45",
            "device_last_sync_timestamp_seconds{device=\"band-1\"} 1800",
            "device_skipped_samples_total{device=\"band-1\",reason=\"too_many\"} 9",
        ]
        for line in wanted { #expect(lines.contains("vitals2mqtt_\(line)")) }
        #expect(!lines.contains { $0.contains("vital_value") })
    }

    @Test func `each metric has one help text and one type, and a name by the conventions`() async throws {
        let gateway = try ShownGateway.withBand()
        gateway.set { $0.late = ["broker"] }
        let lines = await lines(gateway, withVitals: true)
        let names = lines.filter { $0.hasPrefix("# HELP ") }.map { String($0.split(separator: " ")[2]) }
        #expect(names.count > 35 && Set(names).count == names.count)
        let types = lines.filter { $0.hasPrefix("# TYPE ") }.map {
            $0.split(separator: " ").dropFirst(2).map(String.init)
        }
        #expect(types.compactMap(\.first) == names)
        for type in types { #expect((type.last == "counter") == type[0].hasSuffix("_total"), "\(type)") }
        // A row belongs to the metric before it, and no row comes twice.
        var name = ""
        for line in lines {
            if line.hasPrefix("# TYPE ") { name = String(line.split(separator: " ")[2]) }
            if !line.hasPrefix("#") { #expect(line.hasPrefix("\(name)"), "\(line)") }
        }
        let rows = lines.filter { !$0.hasPrefix("#") }.map { $0.prefix { $0 != " " } }
        #expect(Set(rows).count == rows.count)
    }

    @Test func `persons and texts are in no row, and values only if they are wanted`() async throws {
        let gateway = try ShownGateway.withBand()
        for withVitals in [false, true] {
            let lines = await lines(gateway, withVitals: withVitals)
            #expect(!lines.contains { $0.lowercased().contains("anna") })
            #expect(lines.contains { $0.contains("vital_value{") } == withVitals)
        }
        let lines = Set(await lines(gateway, withVitals: true))
        for line in [
            "vital_value{device=\"band-1\",metric=\"heart_rate\",unit=\"bpm\"} 71",
            "vital_value{device=\"band-1\",metric=\"blood_pressure_diastolic\",unit=\"mmHg\"} 80",
            "vital_timestamp_seconds{device=\"band-1\",metric=\"heart_rate\"} 1700",
        ] { #expect(lines.contains("vitals2mqtt_\(line)")) }
        // The stale one is not current.
        #expect(!lines.contains { $0.contains("\"temperature\"") })
    }

    @Test func `devices that have no room in an answer are counted`() async throws {
        let gateway = try ShownGateway.withBand()
        gateway.set { state in
            guard let band = state.devices.values.first else { return }
            for number in 2...200 { if let id = DeviceID("band-\(number)") { state.devices[id] = band } }
        }
        let all = await lines(gateway)
        #expect(all.contains("vitals2mqtt_metrics_omitted_devices 0"))
        #expect(all.count { $0.hasPrefix("vitals2mqtt_device_online{") } == 200)
        let cut = await lines(gateway, maximum: 20_000)
        let shown = cut.count { $0.hasPrefix("vitals2mqtt_device_online{") }
        #expect((1..<200).contains(shown))
        #expect(cut.contains("vitals2mqtt_metrics_omitted_devices \(200 - shown)"))
        #expect(cut.contains("vitals2mqtt_devices 200"))
        #expect(cut.reduce(0) { $0 + $1.utf8.count + 1 } < 40_000)
    }

    @Test func `two scrapes run at a time, and a third one is asked to come later`() async throws {
        let page = MetricsPage(of: try ShownGateway.withBand(), withVitals: false)
        let request = WebRequest(path: "/metrics")
        // Their answers are being sent.
        let (first, second) = (await page.answer(to: request), await page.answer(to: request))
        #expect([first.status, second.status] == [200, 200])
        let third = await page.answer(to: request)
        #expect(third.status == 503 && third.headers.map(\.name) == ["Retry-After"])
        first.onEnd()
        #expect(await page.answer(to: request).status == 200)
    }
}
