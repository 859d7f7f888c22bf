/// What a sample may be at most. A device that sends more is defective, or means harm.
public enum SampleLimits {
    /// When a sample may be: from 1970 (a clock that was never set says 0) to before 2200.
    public static let moments =
        Timestamp(milliseconds: 0)..<Timestamp(milliseconds: 7_258_118_400_000)
    /// How long a sample may last: a week. The longest races and sleeps take a few days.
    public static let duration = Duration.days(7)
    /// Steps of one sample: twice what the fastest runners make in 24 hours.
    public static let steps = 0...500_000
    /// Metres of one sample: a week at 30 km/h without a stop.
    public static let distance = 0.0...5_000_000
    /// Kilocalories of one sample: ten times what the hardest stage races take in a week.
    public static let energy = 0.0...1_000_000
    /// Heart rates of a workout, in bpm. 0 stands for not measured on some devices, so it is let pass.
    public static let sportHeartRate = 0.0...300
    /// The pulse beside a blood pressure, in bpm; 0 as in a workout.
    public static let pulse = 0.0...300
    /// Stages of one sleep: one for every 30 seconds (the length of an epoch in sleep medicine) of a day.
    public static let stages = 2_880
    /// Bytes of a workout's activity in UTF-8.
    public static let activityLength = 64
    /// Slots for people on a device.
    public static let users = 0...9_999
    /// A device's own revision of a record.
    public static let revisions = 1...1_000_000_000
}
