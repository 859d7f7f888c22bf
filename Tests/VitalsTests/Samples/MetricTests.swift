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
            (.steps, "steps", "steps", 0...500_000, nil), (.sleep, "sleep", "min", nil, nil),
            (.sport, "sport", "min", nil, nil), (.battery, "battery", "%", 0...100, nil),
            (.heartRateVariability, "heart_rate_variability", "ms", 1...500, .seconds(86_400)),
            (.respiratoryRate, "respiratory_rate", "breaths/min", 3...100, .seconds(86_400)),
            (.skinTemperature, "skin_temperature", "°C", 15...45, .seconds(86_400)),
            (.weight, "weight", "kg", 0.4...650, nil),
            (.bloodGlucose, "blood_glucose", "mg/dL", 10...1000, .seconds(3600)),
            (.distance, "distance", "m", 0...5_000_000, nil),
            (.activeEnergy, "active_energy", "kcal", 0...1_000_000, nil),
            (.totalEnergy, "total_energy", "kcal", 0...1_000_000, nil),
            (.basalEnergy, "basal_energy", "kcal", 0...1_000_000, nil), (.floors, "floors", "floors", 0...65_000, nil),
            (.exerciseMinutes, "exercise_minutes", "min", 0...10_080, nil),
            (.standHours, "stand_hours", "h", 0...168, nil), (.hydration, "hydration", "mL", 0...150_000, nil),
            (.vo2Max, "vo2_max", "mL/(kg·min)", 3...100, nil), (.bodyFat, "body_fat", "%", 1...90, nil),
            (.leanMass, "lean_mass", "kg", 0.3...300, nil), (.height, "height", "cm", 20...280, nil),
            (.bodyMassIndex, "body_mass_index", "kg/m²", 5...210, nil),
            (.heartRateRecovery, "heart_rate_recovery", "bpm", 0...200, nil),
            (.walkingHeartRate, "walking_heart_rate", "bpm", 20...300, nil),
            (.noiseExposure, "noise_exposure", "dBA", 0...194, .seconds(86_400)),
            (.dietaryEnergy, "dietary_energy", "kcal", 0...200_000, nil), (.protein, "protein", "g", 0...50_000, nil),
            (.carbohydrates, "carbohydrates", "g", 0...50_000, nil), (.fat, "fat", "g", 0...22_000, nil),
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
