import Vitals

/// A line that a strap sends.
enum PulseLine: Hashable {
    /// `72`: a heart rate in bpm, just measured.
    case rate(Double)
    /// `B 81`: the battery in per cent.
    case battery(Double)
    /// `H 5 1763683200 61`: a record that answers request 5, with its time in seconds since 1970.
    case record(request: Int, Sample)
    /// `E 5`: the answer to request 5 is complete.
    case end(request: Int)
    /// A line that is none of these.
    case malformed(String)

    init(_ text: String) {
        let words = text.split(separator: " ").map(String.init)
        let numbers = words.dropFirst().compactMap { Int($0) }
        switch (words.first, words.count, numbers.count) {
        case ("B", 2, 1) where (0...100).contains(numbers[0]): self = .battery(Double(numbers[0]))
        case ("H", 4, 3):
            let sample = Sample(
                metric: .heartRate, start: Timestamp(seconds: Int64(numbers[1])), reading: .value(Double(numbers[2])))
            self = sample.isValid ? .record(request: numbers[0], sample) : .malformed(text)
        case ("E", 2, 1): self = .end(request: numbers[0])
        case (let word?, 1, _): self = Int(word).map { .rate(Double($0)) } ?? .malformed(text)
        default: self = .malformed(text)
        }
    }
}
