package import Vitals

/// A sensor whose hourly statistics follow from samples: the newest value of a metric, or a sum of the day.
///
/// Today's extremes and means, and minutes in zones, are not among them: they follow from these.
package struct StatisticSensor: Sendable, Hashable {
    /// How an hour is summarised, as Home Assistant does for the sensor's `state_class`.
    package enum Kind: Sendable, Hashable {
        /// `measurement`: mean, lowest and highest.
        case measurement
        /// `total`: the count of the day so far, and its sum over the whole series.
        case counter
        /// `measurement` of the day's sum so far.
        case dailySum
    }

    /// The number of a sample that counts.
    package enum Part: Sendable, Hashable {
        case value, systolic, diastolic, metres, kilocalories
    }

    package var key: String
    /// The sensor's name, without its device's.
    package var name: String
    package var metric: Metric
    package var kind: Kind
    package var part: Part
    /// The unit of its values as announced; `nil` for none.
    package var unit: String?

    /// The sensors of a metric.
    package static func all(of metric: Metric) -> [StatisticSensor] {
        let sums = metric.daySums.map { sum in
            StatisticSensor(
                key: sum.key, name: sum.name, metric: metric, kind: sum.isCounter ? .counter : .dailySum,
                part: sum.member == "distance_m" ? .metres : sum.member == "energy_kcal" ? .kilocalories : .value,
                unit: sum.unit)
        }
        guard metric.hasHistory else { return [] }
        switch metric.shape {
        case .value:
            return [
                StatisticSensor(
                    key: metric.rawValue, name: metric.title, metric: metric, kind: .measurement, part: .value,
                    unit: metric.unit)
            ] + sums
        case .pressure:
            return [("systolic", Part.systolic), ("diastolic", .diastolic)].map { name, part in
                StatisticSensor(
                    key: "\(metric.rawValue)_\(name)", name: "\(name.capitalizedFirst) pressure", metric: metric,
                    kind: .measurement, part: part, unit: metric.unit)
            } + sums
        case .count, .sleep, .session: return sums
        }
    }

    /// The sample's number for this sensor, in its unit; `nil` if it has none.
    package func number(of sample: Sample) -> Double? {
        switch (part, sample.reading) {
        case (.value, _): sample.value
        case (.systolic, .bloodPressure(let pressure)): pressure.systolic
        case (.diastolic, .bloodPressure(let pressure)): pressure.diastolic
        case (.metres, .count(let increment)): increment.distance
        case (.kilocalories, .count(let increment)): increment.energy
        default: nil
        }
    }
}

extension Discovery {
    /// How the `unique_id` of each of this gateway's entities begins.
    package var uniqueIDPrefix: String { node("") }

    /// The `unique_id` of an entity, by which Home Assistant knows it, also if it was renamed.
    package func uniqueID(of key: String, _ device: DeviceID) -> String { "\(node(device.text))_\(key)" }
}
