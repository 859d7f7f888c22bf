import Testing
import Vitals

@Suite struct MetricTests {
    @Test func `has a name, a unit, a range and a freshness`() {
        let table: [(Metric, String, String?, ClosedRange<Double>?, Duration?)] = [
            (.heartRate, "heart_rate", "bpm", 20...300, .seconds(1800)),
            (.restingHeartRate, "resting_heart_rate", "bpm", 20...300, nil),
            (.bloodPressure, "blood_pressure", "mmHg", 20...300, nil),
            (.bloodOxygen, "blood_oxygen", "%", 0...100, .seconds(86_400)),
            (.stress, "stress", nil, 0...100, .seconds(7200)),
            (.temperature, "temperature", "°C", 25...45, .seconds(86_400)),
            (.steps, "steps", "steps", nil, nil), (.sleep, "sleep", "min", nil, nil),
            (.sport, "sport", "min", nil, nil), (.battery, "battery", "%", 0...100, nil),
            (.heartRateVariability, "heart_rate_variability", "ms", 1...500, .seconds(86_400)),
            (.respiratoryRate, "respiratory_rate", "breaths/min", 3...100, .seconds(86_400)),
            (.skinTemperature, "skin_temperature", "°C", 15...45, .seconds(86_400)),
            (.weight, "weight", "kg", 0.4...650, nil),
            (.bloodGlucose, "blood_glucose", "mg/dL", 10...1000, .seconds(3600)),
        ]
        #expect(table.map(\.0) == Metric.allCases)
        for (metric, name, unit, range, freshness) in table {
            #expect(Metric(rawValue: name) == metric)
            #expect(metric.unit == unit)
            #expect(metric.range == range)
            #expect(metric.defaultFreshness == freshness)
        }
    }

    @Test func `synchronises sport before heart rate, and every metric with a history once`() throws {
        let order = Metric.synchronised
        #expect(try #require(order.firstIndex(of: .sport)) < #require(order.firstIndex(of: .heartRate)))
        #expect(Set(order) == Set(Metric.allCases).subtracting([.battery]))
        #expect(order.count == Set(order).count)
    }
}
