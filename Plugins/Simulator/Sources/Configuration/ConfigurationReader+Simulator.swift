import GatewayKit
import Vitals

extension ConfigurationReader {
    /// A duration within `range`, or `nil` for `off` and `0s`.
    mutating func durationOrOff(_ key: String, in range: ClosedRange<Duration>, default: Duration?) -> Duration? {
        guard let value = value(key) else { return `default` }
        if case .scalar(let text, _) = value.content {
            // YAML also reads `off` as false.
            if ["off", "false", "0"].contains(text) || Duration(configuration: text) == .zero { return nil }
            if let duration = Duration(configuration: text), range.contains(duration) { return duration }
        }
        let (lower, upper) = (range.lowerBound.configurationText, range.upperBound.configurationText)
        report("A duration from \(lower) to \(upper), or off, is needed here, such as 90s or 15m.", at: key)
        return `default`
    }

    /// A duration, possibly with a minus sign; 0 if the key is absent.
    mutating func signedDuration(_ key: String, upTo greatest: Duration) -> Duration {
        guard let value = value(key) else { return .zero }
        if case .scalar(let text, _) = value.content {
            let isNegative = text.hasPrefix("-")
            if let duration = Duration(configuration: isNegative ? String(text.dropFirst()) : text),
                duration <= greatest
            {
                return isNegative ? .zero - duration : duration
            }
        }
        report("A duration is needed here, such as 90s or -15m, at most \(greatest.configurationText).", at: key)
        return .zero
    }

    /// A probability from 0 (never) to 1 (always); 0 if the key is absent.
    mutating func probability(_ key: String) -> Double { number(key, in: 0...1, default: 0) }
}
