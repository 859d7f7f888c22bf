/// Plausible bounds of a sample. A device that exceeds them is defective or malicious.
public enum SampleLimits {
    /// Times of a sample: from 1970 (the time of a clock that was never set) to before 2200.
    public static let moments =
        Timestamp(milliseconds: 0)..<Timestamp(milliseconds: 7_258_118_400_000)
    /// Maximum duration of a sample: a week. The longest races and sleeps take a few days.
    public static let duration = Duration.days(7)
    /// Steps of one sample: up to twice what the fastest runners make in 24 hours.
    public static let steps = 0...500_000
    /// Metres of one sample: up to a week at 30 km/h without a stop.
    public static let distance = 0.0...5_000_000
    /// Kilocalories of one sample: up to ten times what the hardest stage races take in a week.
    public static let energy = 0.0...1_000_000
    /// Heart rates of a workout, in bpm. 0 is allowed, because some devices send it for "not measured".
    public static let sportHeartRate = 0.0...300
    /// The pulse of a blood pressure, in bpm; 0 is allowed as in a workout.
    public static let pulse = 0.0...300
    /// Maximum number of stages of one sleep: one per 30 seconds (an epoch in sleep medicine) for a day.
    public static let stages = 2_880
    /// Maximum length of a workout's activity, in bytes of UTF-8.
    public static let activityLength = 64
    /// User slots of a device.
    public static let users = 0...9_999
    /// A device's own revisions of a record.
    public static let revisions = 1...1_000_000_000
}
