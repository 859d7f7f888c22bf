import GatewayKit
import JSON
import Vitals

extension HistoryPage {
    private enum Key: String, CaseIterable {
        case samples, next
        static let words = JSONWords(of: Key.self)
    }

    /// Reads a page of a metric and sorts it by start if needed. Records that are not samples of this metric are left
    /// out and counted; impossible samples stay in, for the gateway to refuse.
    init(link reader: inout JSONReader, of metric: Metric) throws(JSONError) {
        self.init(samples: [])
        var hasSamples = false
        let start = reader.index
        try reader.beginObject()
        while let key = try reader.nextKey(in: Key.words) {
            switch key {
            case .samples:
                hasSamples = true
                try readSamples(&reader, of: metric)
            case .next: next = try reader.takeNull() ? nil : try LinkToken(from: &reader).text
            }
        }
        guard hasSamples else { throw JSONError(.wrongValue, at: start) }
        let isAscending = zip(samples, samples.dropFirst()).allSatisfy { $0.start <= $1.start }
        if !isAscending { samples.sort { ($0.start, $0.end) < ($1.start, $1.end) } }
    }

    private mutating func readSamples(_ reader: inout JSONReader, of metric: Metric) throws(JSONError) {
        samples = []
        malformed = 0
        try reader.beginArray()
        while try reader.nextElement() {
            // Reads from a copy, so that a malformed record can be skipped as a whole.
            var attempt = reader
            if let sample = try? Sample(unchecked: &attempt), sample.metric == metric {
                samples.append(sample)
                reader = attempt
            } else {
                malformed += 1
                try reader.skip()
            }
        }
    }
}
