import Vitals

/// Numbers as a person writes them.
enum NumberText {
    /// `8,214`, `36.6`, `−1.5`: rounded to so many decimals, with all of them.
    static func of(_ value: Double, decimals places: Int = 0) -> String {
        let factor = (0..<places).reduce(1.0) { product, _ in product * 10 }
        let scaled = (value * factor).rounded()
        // Beyond that a double has no fraction, and an integer no room.
        guard scaled.isFinite, abs(scaled) < 1e15 else { return "\(value)" }
        let digits = String(Int64(abs(scaled)))
        let padded = String(repeating: "0", count: max(0, places + 1 - digits.count)) + digits
        let whole = grouped(padded.dropLast(places))
        let text = places == 0 ? whole : "\(whole).\(padded.suffix(places))"
        return scaled < 0 ? "−\(text)" : text
    }

    /// `812 kB`, `12.4 MB`, `3.0 GB`, in powers of 1000; below 0 as 0.
    static func bytes(_ count: Int64) -> String {
        let count = Double(max(0, count))
        for (size, unit) in [(1e9, "GB"), (1e6, "MB")] where count >= size {
            return "\(of(count / size, decimals: 1)) \(unit)"
        }
        return count >= 1000 ? "\(of(count / 1000)) kB" : "\(of(count)) B"
    }

    /// `1 record`, `2 records`.
    static func count(_ count: Int, _ noun: String) -> String { "\(of(Double(count))) \(noun)\(count == 1 ? "" : "s")" }

    private static func grouped(_ digits: Substring) -> String {
        guard digits.count > 3 else { return String(digits) }
        return "\(grouped(digits.dropLast(3))),\(digits.suffix(3))"
    }
}

/// Words of the contract as a person says them.
enum Wording {
    /// `Heart rate`, `VO₂ max`.
    static func name(of metric: Metric) -> String { names[metric.rawValue] ?? sentence(metric.rawValue) }

    /// `bpm`; none of a metric that the pages write in other words, or that counts what it is named by.
    static func unit(of metric: Metric) -> String? {
        metric.shape == .sleep || metric.shape == .session || metric.unit == metric.rawValue ? nil : metric.unit
    }

    /// A word that qualifies a value, such as `fasting`, or the short name of a statistic.
    static func text(ofQualifier word: String) -> String {
        ["rmssd", "sdnn"].contains(word) ? word.uppercased() : word
    }

    /// The value of a sample, without its unit: `58`, `121/78`, `7 h 42 min`.
    static func text(of sample: Sample) -> String {
        switch sample.reading {
        case .bloodPressure(let pressure): "\(NumberText.of(pressure.systolic))/\(NumberText.of(pressure.diastolic))"
        case .sleep, .sport: TimeText.span(minutes: Int(sample.value ?? 0))
        case .value, .count: NumberText.of(sample.value ?? 0, decimals: sample.metric.decimals)
        }
    }

    /// `Heart rate at rest is high`, or what a device warned of.
    static func name(of rule: AlertRule) -> String {
        if let warning = rule.warning { return text(of: warning) }
        if rule.subject == .rate { return "\(name(of: rule.metric)) \(rule.side == .high ? "rises" : "falls") fast" }
        let what =
            switch rule.subject {
            case .value, .rate: name(of: rule.metric)
            case .resting: "\(name(of: rule.metric)) at rest"
            case .exercise: "\(name(of: rule.metric)) in exercise"
            case .systolic: "Systolic blood pressure"
            case .diastolic: "Diastolic blood pressure"
            }
        return "\(what) is \(rule.side.rawValue)"
    }

    /// What a device warned of.
    private static func text(of warning: AlertRule.Warning) -> String {
        switch warning {
        case .highHeartRate: "The device warned of a high heart rate"
        case .lowHeartRate: "The device warned of a low heart rate"
        case .irregularRhythm: "The device noticed an irregular rhythm"
        case .fibrillation: "An ECG shows atrial fibrillation"
        case .highInECG: "The heart rate in an ECG is high"
        case .lowInECG: "The heart rate in an ECG is low"
        case .inconclusive: "An ECG does not tell the rhythm"
        }
    }

    /// Why records were refused, to follow their number.
    static func text(of reason: RefusalReason, isOne: Bool = false) -> String {
        switch reason {
        case .endBeforeStart: isOne ? "ends before it starts" : "end before they start"
        case .tooLong: isOne ? "lasts longer than any real record" : "last longer than any real record"
        case .outOfRange: isOne ? "has a value or a time that cannot be" : "have a value or a time that cannot be"
        case .future: isOne ? "lies in the future" : "lie in the future"
        case .malformed: "cannot be read"
        case .notStored: "came while the store took none"
        }
    }

    /// Why values were dropped before they were records: a word of the gateway or of a driver, to follow their number.
    static func text(ofSkipped word: String, isOne: Bool = false) -> String {
        if let reason = RefusalReason(rawValue: word) { return text(of: reason, isOne: isOne) }
        guard let reason = skipped[word] else { return sentence(word).lowercased() }
        return "\(isOne ? reason.one : reason.many) \(reason.rest)"
    }

    private static let names = [
        "sport": "Workouts", "vo2_max": "VO₂ max", "noise_exposure": "Noise", "dietary_energy": "Energy eaten",
    ]

    private static let skipped: [String: (one: String, many: String, rest: String)] = [
        "undeclared": ("belongs", "belong", "to something that the device does not say it has"),
        "erased": ("is", "are", "older than the erasure of the person's data"),
        "before_from": ("is", "are", "older than the device's from: in the configuration"),
        "too_many": ("is", "are", "beyond what the driver reads at once"),
        "other": ("has", "have", "other reasons; the log names them"),
    ]

    /// `Heart rate`, for `heart_rate`.
    private static func sentence(_ word: String) -> String {
        let text = word.split(separator: "_").joined(separator: " ")
        return text.prefix(1).uppercased() + text.dropFirst()
    }
}
