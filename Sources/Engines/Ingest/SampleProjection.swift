package import Vitals

/// The state that follows from a device's samples so far. A value: a transaction changes a copy, which is adopted once it is on
/// disk.
package struct SampleProjection: Sendable {
    let device: DeviceID
    /// The newest sample of each metric, by end.
    package internal(set) var latest: [Metric: StoredSample]
    /// The end of the newest sample ever, per metric: older samples are not published as latest.
    package internal(set) var highWater: [Metric: Timestamp]
    /// Watches current values.
    package internal(set) var alerts: AlertMachine
    /// Evaluates late data.
    var lateAlerts: AlertMachine
    /// The running local day of each metric.
    package internal(set) var today: RunningDay
    /// The newest workouts, to distinguish heart rates in exercise from those at rest.
    var workouts: [Workout] = []
    /// Days already marked as unsettled, so that each is marked once.
    var marked: Set<MetricDay> = []

    /// A sample that ended longer ago than this when it arrived is historical, even if it is still fresh.
    package static let presence: Duration = .hours(1)
    /// Maximum number of remembered workouts: some weeks of an athlete.
    static let maximumWorkouts = 64

    package init(
        device: DeviceID, latest: [Metric: StoredSample] = [:], highWater: [Metric: Timestamp] = [:],
        levels: [AlertRule: AlertLevel] = [:], today: RunningDay
    ) {
        self.device = device
        self.latest = latest
        self.highWater = highWater
        self.alerts = AlertMachine(device: device, levels: levels)
        self.lateAlerts = AlertMachine(device: device, isLate: true)
        self.today = today
    }

    /// Whether the person was exercising: the device says so, or it does not say, the value is no resting one, and a
    /// workout was going on.
    func isExercise(_ sample: Sample) -> Bool {
        if let isExercise = sample.isExercise { return isExercise }
        if sample.kind == .resting || sample.metric.restOf != nil { return false }
        return workout(at: sample.start) != nil
    }

    /// The workout in progress at a time.
    func workout(at moment: Timestamp) -> Workout? { workouts.last { $0.range.contains(moment) } }

    /// A workout that was not withdrawn.
    struct Workout: Sendable {
        let id: SampleID
        let range: Range<Timestamp>
        /// Its day, if its source says where it was.
        let day: LocalDay?
    }
}

/// The surroundings in which the projection evaluates samples.
package struct IngestContext: Sendable {
    package var source: SampleSource
    package var now: Timestamp
    /// How long a metric's value is fresh; a metric without entry is always fresh.
    package var freshness: [Metric: Duration]
    /// The limits in force.
    package var settings: MonitorSettings
    package var policy: AlertPolicy
    package var isWorn: Bool
    package var calendar: LocalCalendar
    /// Whose the samples are.
    package var wearers: Wearers

    package init(
        source: SampleSource, now: Timestamp, freshness: [Metric: Duration], settings: MonitorSettings,
        policy: AlertPolicy, isWorn: Bool, calendar: LocalCalendar, wearers: Wearers = Wearers()
    ) {
        self.source = source
        self.now = now
        self.freshness = freshness
        self.settings = settings
        self.policy = policy
        self.isWorn = isWorn
        self.calendar = calendar
        self.wearers = wearers
    }

    /// When a sample goes stale; `nil` for never.
    package func freshUntil(_ sample: Sample) -> Timestamp? {
        freshness[sample.metric].map { sample.end + $0 }
    }
}
