import Conformance
import TestSupport
import Vitals

extension DriverConformance.DeviceCall {
    /// A message to the device, as words on a line.
    var text: String {
        switch self {
        case .clock(let time, let offset): "clock \(time.milliseconds) \(offset ?? 0)"
        case .acknowledged(let metric, let through): "acknowledged \(metric.rawValue) \(through.milliseconds)"
        case .settled(let name, let isDurable): "settled \(name) \(isDurable)"
        case .disconnect: "disconnect"
        }
    }

    /// Reads the words of `text`; `nil` for any others.
    init?(text: Substring) {
        let words = text.split(separator: " ").map(String.init)
        switch (words.first, words.count) {
        case ("clock", 3):
            guard let time = Int64(words[1]), let offset = Int(words[2]) else { return nil }
            self = .clock(Timestamp(milliseconds: time), utcOffset: offset)
        case ("acknowledged", 3):
            guard let metric = Metric(rawValue: words[1]), let through = Int64(words[2]) else { return nil }
            self = .acknowledged(metric, through: Timestamp(milliseconds: through))
        case ("settled", 3): self = .settled(words[1], isDurable: words[2] == "true")
        case ("disconnect", 1): self = .disconnect
        default: return nil
        }
    }
}
