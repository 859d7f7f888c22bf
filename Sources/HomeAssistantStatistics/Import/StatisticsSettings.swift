package import HomeAssistant
package import Logging
package import Vitals

/// The settings of an import of statistics.
package struct StatisticsSettings: Sendable {
    /// The long-lived token of an administrator.
    package var token: String
    /// The names of entities.
    package var discovery: Discovery
    /// The zone of local days, in which counts begin at zero.
    package var calendar: LocalCalendar
    /// How long samples are kept; `nil` for ever. Older hours have lost theirs and are left as they are.
    package var retention: Duration?
    package var clock: GatewayClock
    package var logger: Logger

    package init(
        token: String, discovery: Discovery, calendar: LocalCalendar, retention: Duration?, clock: GatewayClock,
        logger: Logger
    ) {
        self.token = token
        self.discovery = discovery
        self.calendar = calendar
        self.retention = retention
        self.clock = clock
        self.logger = logger
    }

    /// How long ago an hour must have ended: Home Assistant compiles it 10 s after its end, and up to some minutes later
    /// when it is busy or has just started.
    package static let settling: Duration = .minutes(75)
    /// The most hours of one message, about 100 KB; Home Assistant takes 4 MB.
    static let batch = 1_000
    /// The pause after a batch: the recorder stores other states then.
    static let pause: Duration = .milliseconds(500)
    /// How long a series must be quiet before its hours are computed, so that a synchronisation is not computed many times.
    static let quiet: Duration = .seconds(20)
    /// After this time hours are computed even if more samples keep coming.
    package static let timeout: Duration = .minutes(10)
    /// The interval of checks for what is pending.
    static let interval: Duration = .seconds(15)
    /// When a count that Home Assistant has no own row of is checked again, and a series whose import failed; each time
    /// twice as late. Home Assistant compiles every five minutes.
    static let rejoining: Duration = .minutes(1)
    /// The wait before the next search for a missing entity; it doubles each time. While Home Assistant starts, all are missing.
    static let missing: Duration = .seconds(30)
    /// The wait after which the state names an entity that is still missing.
    static let missingReported: Duration = .minutes(1)
    /// The longest of these times: a retired device costs one login in an hour.
    static let rarest: Duration = .hours(1)
    /// How long the effect of a message may take.
    static let effectTime: Duration = .seconds(120)
    /// The wait between two checks for the effect.
    static let pollInterval: Duration = .milliseconds(250)
    /// The first wait after a failure; each further one is twice as long.
    static let firstWait: Duration = .seconds(5)
    /// The longest of these waits: a Home Assistant that is offline costs little.
    static let longestWait: Duration = .minutes(5)
    /// The wait after a refusal that only a person can change, such as an old version.
    package static let refusalWait: Duration = .hours(1)
    /// The most samples of one read from the store.
    static let page = 5_000

    /// What the newest samples before the end of their retention are not used for: the day of the limit may have lost a part
    /// already, and a night before it.
    static let retentionMargin: Duration = .days(2)
    /// The shortest retention with which anything can be imported: the margin, a day that must be whole, and a day for what
    /// comes late.
    package static let shortestRetention: Duration = .days(4)

    /// The first hour whose samples are all there; `nil` if they are kept for ever.
    var oldestHour: Hour? { retention.map { Hour(of: clock.now - $0 + Self.retentionMargin) } }

    /// The last hour that may be imported at a moment.
    func lastHour(at moment: Timestamp) -> Hour { Hour(of: moment - Self.settling).advanced(by: -1) }
}
