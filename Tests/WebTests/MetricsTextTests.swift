import Testing

@testable import Web

/// The text format of Prometheus, version 0.0.4.
@Suite struct MetricsTextTests {
    private static let counter = MetricFamily("a_total", "Things.", kind: .counter)
    private static let gauge = MetricFamily("b", "A \\ and\na line.")

    private func text(_ write: (inout MetricsText) -> Void) -> String {
        var text = MetricsText()
        write(&text)
        return String(decoding: text.bytes, as: UTF8.self)
    }

    @Test func `the rows of a metric follow its one help text and its one type`() {
        let text = text {
            $0.add(Self.counter, 1, ["lane": "live"])
            $0.add(Self.gauge, 0.5)
            $0.add(Self.counter, 2, ["lane": "alert", "stage": "sent"])
        }
        #expect(
            text == """
                # HELP vitals2mqtt_a_total Things.
                # TYPE vitals2mqtt_a_total counter
                vitals2mqtt_a_total{lane="live"} 1
                vitals2mqtt_a_total{lane="alert",stage="sent"} 2
                # HELP vitals2mqtt_b A \\\\ and\\na line.
                # TYPE vitals2mqtt_b gauge
                vitals2mqtt_b 0.5

                """)
    }

    @Test func `quotes, backslashes and line feeds of a label are escaped, and nothing else`() {
        let text = text { $0.add(Self.gauge, 1, ["reason": "a \"b\" \\ c\nd °C"]) }
        #expect(text.contains("vitals2mqtt_b{reason=\"a \\\"b\\\" \\\\ c\\nd °C\"} 1\n"))
    }

    @Test(arguments: [
        (1_763_683_200.25, "1763683200.25"), (0, "0"), (-1.5, "-1.5"), (81_920, "81920"), (1e300, "1e+300"),
    ]) func `a whole number has no fraction, and another one all that it needs`(value: Double, written: String) {
        #expect(text { $0.add(Self.gauge, value) }.hasSuffix("vitals2mqtt_b \(written)\n"))
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity]) func `what is no number has no row`(value: Double) {
        #expect(text { $0.add(Self.gauge, value) } == "")
    }
}
