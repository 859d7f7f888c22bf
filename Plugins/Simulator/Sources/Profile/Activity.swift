import Vitals

/// A period of movement within a day.
struct Activity: Sendable, Hashable {
    /// The kind of movement. The raw value is the device's name of it.
    enum Kind: String, Sendable, Hashable { case stroll, walking, running, cycling, strength }

    /// The kind of movement.
    let kind: Kind
    /// When it begins, on a whole minute.
    let start: Timestamp
    /// When it ends, on a whole minute.
    let end: Timestamp
    /// Its intensity: the share of the heart-rate reserve, from the rate at leisure to the highest rate.
    let effort: Double
    /// Steps a minute.
    let cadence: Double

    /// Whether a device records it as a workout: everything but strolls.
    var isWorkout: Bool { kind != .stroll }

    /// Whole steps from the beginning until a moment. Steps of adjoining intervals add up exactly.
    func steps(until moment: Timestamp) -> Int {
        let elapsed = min(max(moment, start), end).milliseconds - start.milliseconds
        return Int(cadence * Double(elapsed) / 60_000)
    }

    /// All steps of the activity.
    var steps: Int { steps(until: end) }
}

extension Activity.Kind {
    /// Its intensity, as a share of the heart-rate reserve.
    var efforts: ClosedRange<Double> {
        switch self {
        case .stroll: 0.12...0.24
        case .walking: 0.28...0.42
        case .running: 0.64...0.82
        case .cycling: 0.50...0.72
        case .strength: 0.38...0.55
        }
    }

    /// Steps a minute.
    var cadences: ClosedRange<Double> {
        switch self {
        case .stroll: 92...112
        case .walking: 108...124
        case .running: 152...176
        case .cycling: 0...0
        case .strength: 6...14
        }
    }

    /// The length of a step, as a multiple of a walking step.
    var stride: Double { self == .running ? 1.45 : 1 }

    /// Metabolic equivalents: kilocalories per kilogram and hour (Compendium of Physical Activities, 2011, rounded).
    var metabolicEquivalent: Double {
        switch self {
        case .stroll: 3
        case .walking: 4.3
        case .running: 9.8
        case .cycling: 7.5
        case .strength: 5
        }
    }
}
