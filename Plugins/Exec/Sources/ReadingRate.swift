/// Limits how fast a program's standard error is read. A program that writes faster has to wait, as if it wrote to a slow
/// terminal.
struct ReadingRate {
    /// The bytes that are read in a turn: 8 MiB in a second, which is far more than a person reads and costs little.
    static let bytesPerTurn = 800 << 10
    /// What the lines of a read count as at least, in bytes for each: a program that writes only short or empty lines costs as little as
    /// others. It is some 250,000 lines a second.
    static let bytesOfLine = 32
    /// A turn. It is short, since the end of a program waits for the rest of its standard error.
    static let turn: Duration = .milliseconds(100)

    private var start: Duration?
    private var bytes = 0

    /// Notes that bytes were read at a steady time, and how many lines ended in them. Returns how long to wait before the next read.
    mutating func pause(after count: Int, lines: Int, at now: Duration) -> Duration? {
        let begun = start.flatMap { now - $0 < Self.turn ? $0 : nil }
        if begun == nil { bytes = 0 }
        let start = begun ?? now
        self.start = start
        bytes += max(count, lines * Self.bytesOfLine)
        guard bytes > Self.bytesPerTurn else { return nil }
        // Many lines at once take several turns.
        return Self.turn * ((bytes - 1) / Self.bytesPerTurn) - (now - start)
    }
}
