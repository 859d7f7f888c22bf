/// A moment of a clock for tests, by the time since the clock's start.
package struct TestInstant: InstantProtocol {
    /// The time since the clock's start.
    package var offset: Duration

    package func advanced(by duration: Duration) -> TestInstant { TestInstant(offset: offset + duration) }
    package func duration(to other: TestInstant) -> Duration { other.offset - offset }
    package static func < (a: TestInstant, b: TestInstant) -> Bool { a.offset < b.offset }
}
