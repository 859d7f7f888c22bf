import Vitals

/// The meaning of a temperature that has neither a kind nor a place, as its owner says (`options.temperature`).
enum UnspecifiedTemperature: String, CaseIterable, Sendable { case body, skin }

extension ValueFeeds {
    /// What TEMPERATURE_TYPE says.
    private enum Kind: Int64 { case unknown = 0, body, skin, ambient }
    /// TEMPERATURE_LOCATION of places where there is only skin: finger, toe, wrist.
    private static let skinPlaces: Set<Int64> = [2, 7, 9]
    /// TEMPERATURE_LOCATION of places where a thermometer measures the body: armpit, forehead, mouth, rectum, temple, ear.
    private static let bodyPlaces: Set<Int64> = [1, 3, 4, 5, 6, 8]

    /// Temperatures of the body and, as a separate metric, of the skin. Those of the air are skipped.
    /// - Parameter unspecified: what temperatures without a kind and a place are; `nil` if the configuration does not say it.
    static func temperatures(_ table: Table, unspecified: UnspecifiedTemperature?) -> [any Feed] {
        guard table.columns.contains("TEMPERATURE"), table.name.hasSuffix("_TEMPERATURE_SAMPLE") else { return [] }
        let types = ["TEMPERATURE_TYPE", "TEMPERATURE_LOCATION"].filter { table.columns.contains($0) }
        let both: [(Metric, ClosedRange<Double>, Bool)] = [
            (.temperature, ValidRange.temperature, false),
            (Metric.skinTemperature, ValidRange.skinTemperature, true),
        ]
        return both.map { metric, range, wantsSkin in
            RowFeed(
                metric: metric, table: table.name, rank: .records, unit: table.unit, columns: ["TEMPERATURE"] + types
            ) { row in
                // What is empty is counted once, by one of the two feeds, whatever it would be of.
                let nothing = Sample.nothing(of: metric, from: row.moment, to: row.moment)
                if row.isNull(0) { return .nothing(nothing, wantsSkin ? nil : .notMeasured) }
                let type = types.contains("TEMPERATURE_TYPE") ? row.integer(1) ?? 0 : 0
                let location = types.count == 2 ? row.integer(2) : nil
                let isSkin: Bool
                switch Kind(rawValue: type) {
                case .skin: isSkin = true
                case .body: isSkin = false
                case .unknown where location.map(skinPlaces.contains) == true: isSkin = true
                case .unknown where location.map(bodyPlaces.contains) == true: isSkin = false
                // Counted once, by one of the two feeds.
                case .ambient: return wantsSkin ? .irrelevant : .skipped(.ambient)
                case nil: return wantsSkin ? .irrelevant : .skipped(.unknownCode)
                case .unknown:
                    // Only the owner knows whether a value without kind and place is a body temperature.
                    guard let unspecified else { return wantsSkin ? .irrelevant : .skipped(.unspecified) }
                    isSkin = unspecified == .skin
                }
                guard isSkin == wantsSkin else { return .nothing(nothing) }
                guard let value = row.number(0) else { return .skipped(.unreadable) }
                guard value != 0 else { return .nothing(nothing, .notMeasured) }
                guard range.contains(value) else { return .skipped(.implausible) }
                return .sample(Sample(metric: metric, start: row.moment, reading: .value(value)))
            }
        }
    }
}
