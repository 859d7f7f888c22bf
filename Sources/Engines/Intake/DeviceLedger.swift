package import Vitals

/// What a device's samples amount to so far. A value: a transaction works on a copy, which holds once it is on disk.
package struct DeviceLedger: Sendable {
    let device: DeviceID
    /// The newest sample of each metric, by its end.
    package internal(set) var latest: [Metric: StoredSample]
    /// The end of the newest sample that there ever was, per metric: nothing older is published as latest.
    package internal(set) var highWater: [Metric: Timestamp]
    /// What is about now.
    package internal(set) var alerts: AlertMachine
    /// What late data had to say.
    var lateAlerts: AlertMachine
    /// The running local day of each metric.
    package internal(set) var today: RunningDay
    /// The newest workouts, to tell heart rates of an exercise from those at rest.
    var workouts: [Range<Timestamp>] = []
    /// Days that were marked as unsettled before, so that each is marked once.
    var marked: Set<MetricDay> = []

    /// So many workouts are remembered: some weeks of an athlete.
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

    /// Whether the person was exercising: the device says so, the value stands for rest, or a workout was going on.
    func isExercise(_ sample: Sample) -> Bool {
        if let isExercise = sample.isExercise { return isExercise }
        if sample.kind == .resting || sample.metric == .restingHeartRate { return false }
        return workouts.contains { $0.contains(sample.start) }
    }
}

/// What the ledger has to know to judge samples.
package struct IntakeContext: Sendable {
    package var source: SampleSource
    package var now: Timestamp
    /// How long a value of a metric is fresh; a metric that is not named is fresh without end.
    package var freshness: [Metric: Duration]
    /// The limits that hold.
    package var settings: MonitorSettings
    package var policy: AlertPolicy
    package var isWorn: Bool
    package var calendar: LocalCalendar

    package init(
        source: SampleSource, now: Timestamp, freshness: [Metric: Duration], settings: MonitorSettings,
        policy: AlertPolicy, isWorn: Bool, calendar: LocalCalendar
    ) {
        self.source = source
        self.now = now
        self.freshness = freshness
        self.settings = settings
        self.policy = policy
        self.isWorn = isWorn
        self.calendar = calendar
    }

    /// Until when a sample is fresh, `nil` for without end.
    package func freshUntil(_ sample: Sample) -> Timestamp? {
        freshness[sample.metric].map { sample.end + $0 }
    }
}
