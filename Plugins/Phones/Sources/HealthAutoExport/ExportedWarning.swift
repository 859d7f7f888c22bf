import GatewayKit
import JSON
import Vitals

/// An entry of `heartRateNotifications`: the watch warned of a high or low heart rate, or of an irregular rhythm. The app does not say
/// of which; only a rate has a threshold.
struct ExportedNotification {
    private var start: Timestamp?
    private var end: Timestamp?
    private var hasThreshold = false
    private var threshold: Double?
    private var lowest: Double?
    private var highest: Double?

    private enum Key: String, CaseIterable { case start, end, threshold, heartRate }
    private static let keys = JSONWords(of: Key.self)
    private enum RateKey: String, CaseIterable { case hr }
    private static let rateKeys = JSONWords(of: RateKey.self)

    /// The thresholds that a watch offers: for a high heart rate 100 to 150 bpm, for a low one 40 to 50 (Apple Support, "Heart health
    /// notifications on your Apple Watch").
    private static let lowestHigh = 100.0
    private static let highestLow = 50.0

    init(_ reader: inout JSONReader, calendar: LocalCalendar) throws(JSONError) {
        guard try reader.looseObject() else { return }
        while let key = try reader.nextKey(in: Self.keys) {
            switch key {
            case .start: start = try reader.time(calendar)
            case .end: end = try reader.time(calendar)
            case .threshold:
                hasThreshold = try reader.peek() != .null
                threshold = Self.plausible(try reader.looseNumber())
            case .heartRate: try readRates(&reader)
            }
        }
    }

    /// `[{"hr": 105, "units": "bpm", "timestamp": …}]`.
    private mutating func readRates(_ reader: inout JSONReader) throws(JSONError) {
        guard try reader.looseArray() else { return }
        while try reader.nextElement() {
            guard try reader.looseObject() else { continue }
            while let key = try reader.nextKey(in: Self.rateKeys) {
                switch key {
                case .hr:
                    guard let rate = Self.plausible(try reader.looseNumber()) else { continue }
                    lowest = min(lowest ?? rate, rate)
                    highest = max(highest ?? rate, rate)
                }
            }
        }
    }

    /// The alert, or why it is skipped.
    var record: Record {
        guard let at = Timestamp.warned(from: start, to: end) else {
            return .skipped("a heart-rate notification without a readable time")
        }
        guard hasThreshold else { return .warned(of: .irregularRhythm, at: at) }
        guard let threshold else { return .skipped("a heart-rate notification whose threshold is no heart rate") }
        let isAbove = highest.map { $0 > threshold } ?? false
        let isBelow = lowest.map { $0 < threshold } ?? false
        if threshold >= Self.lowestHigh || threshold > Self.highestLow && isAbove && !isBelow {
            return .warned(of: .highHeartRate, value: highest, limit: threshold, at: at)
        }
        if threshold <= Self.highestLow || isBelow && !isAbove {
            return .warned(of: .lowHeartRate, value: lowest, limit: threshold, at: at)
        }
        return .skipped("a heart-rate notification that tells neither a high nor a low heart rate")
    }

    /// A heart rate that a living person can have; `nil` for any other number.
    static func plausible(_ rate: Double?) -> Double? {
        rate.flatMap { Metric.heartRate.range?.contains($0) == true ? $0 : nil }
    }
}

/// An entry of `ecg`, without its voltages: a recording of 30 seconds has 15,000 of them, more than a megabyte of text.
struct ExportedECG {
    private var start: Timestamp?
    private var end: Timestamp?
    private var classification: String?
    private var rate: Double?
    /// Whether it has voltages.
    private(set) var hasVoltages = false

    private enum Key: String, CaseIterable { case start, end, classification, averageHeartRate, voltageMeasurements }
    private static let keys = JSONWords(of: Key.self)

    init(_ reader: inout JSONReader, calendar: LocalCalendar) throws(JSONError) {
        guard try reader.looseObject() else { return }
        while let key = try reader.nextKey(in: Self.keys) {
            switch key {
            case .start: start = try reader.time(calendar)
            case .end: end = try reader.time(calendar)
            case .classification: classification = try reader.looseText()
            case .averageHeartRate: rate = ExportedNotification.plausible(try reader.looseNumber())
            case .voltageMeasurements:
                guard try reader.looseArray() else { continue }
                while try reader.nextElement() {
                    hasVoltages = true
                    try reader.skip()
                }
            }
        }
    }

    /// The alert, or why there is none.
    var record: Record {
        guard let at = Timestamp.warned(from: start, to: end) else { return .skipped("an ECG without a readable time") }
        let words = classification?.lowercased().filter { $0.isLetter } ?? ""
        let warning: AlertRule.Warning
        switch words {
        case "sinusrhythm": return .leftOut("an ECG in sinus rhythm, which warns of nothing")
        case "atrialfibrillation": warning = .fibrillation
        case "highheartrate", "inconclusivehighheartrate": warning = .highInECG
        case "lowheartrate", "inconclusivelowheartrate": warning = .lowInECG
        case _ where words.hasPrefix("inconclusive"): warning = .inconclusive
        case "", "notset", "unrecognized": return .skipped("an ECG without a classification")
        default: return .skipped("an ECG classified as \((classification ?? "").quoted)")
        }
        return .warned(of: warning, value: rate, at: at)
    }
}

extension Timestamp {
    /// When a watch warned: at the end of what it saw, which is not before its start.
    fileprivate static func warned(from start: Timestamp?, to end: Timestamp?) -> Timestamp? {
        start.map { max($0, end ?? $0) }
    }
}

extension Record {
    fileprivate static func warned(
        of warning: AlertRule.Warning, value: Double? = nil, limit: Double? = nil, at moment: Timestamp
    ) -> Record {
        .alert(DeviceAlert(rule: AlertRule(warning), edge: .raised, value: value, limit: limit, at: moment))
    }
}
