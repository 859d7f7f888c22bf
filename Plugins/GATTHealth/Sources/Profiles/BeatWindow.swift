import Vitals

/// Computes the heart-rate variability of one window after the other, from the times between heartbeats.
///
/// The statistic is RMSSD, and a window is five minutes: the short-term measure and length of the Task Force of the European Society
/// of Cardiology (Circulation 93:1043, 1996). A beat counts if it is plausible and differs by at most a fifth from the one before
/// (the filter of Malik et al., 1989); a missed or an extra beat would otherwise decide the result.
struct BeatWindow: Sendable {
    /// The time of a window.
    static let length: Duration = .minutes(5)
    /// Milliseconds between two beats: 30 to 200 per minute.
    static let plausible = 300.0...2000
    /// How much a beat may differ from the one before.
    static let greatestChange = 0.2
    /// How much of a window the beats that count must fill.
    static let leastCover = 0.8
    /// A longer pause between two values begins a new window.
    static let longestPause: Duration = .seconds(10)

    private var start: Timestamp?
    private var end: Timestamp?
    /// The beat before, if it counts.
    private var last: Double?
    private var sumOfSquares = 0.0
    private var pairs = 0
    /// Milliseconds of the beats that count.
    private var covered = 0.0

    /// Adds the beats that arrive now, in milliseconds; returns a window that is over.
    mutating func add(_ beats: [Double], at now: Timestamp) -> Sample? {
        // A clock that is set back also begins a new window.
        if let end, now - end > Self.longestPause || now < end { reset() }
        guard !beats.isEmpty else { return nil }
        let start = start ?? now
        self.start = start
        end = now
        for beat in beats { add(beat) }
        guard now - start >= Self.length else { return nil }
        defer { reset() }
        let span = Double((now - start).inMilliseconds)
        guard pairs > 0, covered >= span * Self.leastCover else { return nil }
        return Sample(
            metric: .heartRateVariability, start: start, end: now, qualifiers: [.statistic: "rmssd"],
            reading: .value((sumOfSquares / Double(pairs)).squareRoot()))
    }

    /// Begins a new window with the next beat.
    mutating func reset() { self = BeatWindow() }

    private mutating func add(_ beat: Double) {
        guard Self.plausible.contains(beat) else {
            last = nil
            return
        }
        defer { last = beat }
        guard let last else {
            covered += beat
            return
        }
        let change = beat - last
        guard abs(change) <= last * Self.greatestChange else { return }
        covered += beat
        sumOfSquares += change * change
        pairs += 1
    }
}
