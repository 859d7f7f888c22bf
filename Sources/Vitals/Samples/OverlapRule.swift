/// Which of two records of one device and person counts if both describe the same thing: sleeps and workouts that overlap, and steps
/// with the same start.
public enum OverlapRule: Sendable, Hashable {
    /// The one that ends later, in any order of arrival: a device reports a night again while it grows.
    case latestEnd
    /// The one that arrived last: the source corrects its records itself, as an app does in its exports. One reading must not have two
    /// records that exclude each other.
    case lastReported
    /// As `latestEnd`, but of steps with the same start the larger count, in any order of arrival: an app may report a day again of
    /// which it has only a part.
    case largestCount
}
