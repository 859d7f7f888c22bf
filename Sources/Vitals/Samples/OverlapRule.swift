/// Which of two records of one device and person counts where they describe the same thing: sleeps and workouts that overlap, and
/// steps that start together.
public enum OverlapRule: Sendable, Hashable {
    /// The one that ends later, in whatever order they come: a device tells a night again while it grows.
    case latestEnd
    /// The one that was told last: what tells the records corrects them itself, as an app does in its exports. Of one telling, it
    /// must leave no two that exclude each other.
    case toldLast
    /// As `latestEnd`; but of steps that start together the larger count, in whatever order they come: an app may tell a day again
    /// of which it has only a part.
    case largestCount
}
