/// A device: its condition, and one of its sections. The sections that are `nil` are not shown.
struct DevicePage: Hashable, Sendable {
    var frame: Frame
    var device: DeviceHead
    var values: ValuesSection?
    var owners: OwnersSection?
    var nights: NightsSection?
    var workouts: WorkoutsSection?
    var days: DaysSection?
    var history: HistorySection?
    var settings: SettingsForm?
    var losses: LossesSection?
}

/// What is above every section.
struct DeviceHead: Hashable, Sendable {
    var id: String
    var name: String
    /// Person, maker, model, firmware, driver.
    var facts: [Figure]
    var tabs: DeviceTabs
    var state: DeviceRow
    var warnings: AlertList
    var sync: SyncPanel
    var measure: MeasurePanel?
    var pairing: PairingPanel?
    var whose: WhosePanel?
}

/// The sections of a device, with what waits in each.
struct DeviceTabs: Hashable, Sendable {
    /// `tabs.<id>`
    var key: String
    var sections: [Tab]
}

/// The synchronisation, and the button for it.
struct SyncPanel: Hashable, Sendable {
    /// `sync.<id>`
    var key: String
    var id: String
    var isRunning: Bool
    /// "Reading sleep", "Last one 12 min ago: 31 new, 88 known"
    var text: String
    /// Metrics that are done, of how many.
    var done: Int
    var total: Int
    /// Each metric: "1,310 new, 88 known, 3 refused".
    var rows: [Row]
    var problem: String?
}

/// The measurement on demand.
struct MeasurePanel: Hashable, Sendable {
    /// `measure.<id>`
    var key: String
    var id: String
    var isRunning: Bool
    /// The metrics that the device measures.
    var metrics: [Choice]
    /// "Measuring the heart rate", "Ended"
    var text: String
    /// The newest reading.
    var reading: Figure?
    var started: Moment?
    var problem: String?
}

/// The pairing of a device that shows a passkey.
struct PairingPanel: Hashable, Sendable {
    /// `pairing.<id>`
    var key: String
    var id: String
    /// "The device shows six digits.", "Paired."
    var text: String
    /// Whether a passkey can be given now, and until when.
    var until: Moment?
    var problem: String?
}

/// The samples that wait until somebody says whose they are.
struct WhosePanel: Hashable, Sendable {
    struct Question: Hashable, Sendable {
        var sample: String
        var device: String
        /// "Weight"
        var what: String
        var measured: Moment
        /// Who may answer for it: the candidates first.
        var persons: [String]
    }

    /// `whose.<id>`
    var key: String
    var questions: [Question]
    /// That more of them wait than are listed.
    var more: String?
}

/// Whose the newest samples of a device for several are, to be mended.
struct OwnersSection: Hashable, Sendable {
    struct Owned: Hashable, Sendable {
        var sample: String
        var device: String
        /// "Weight 62.1 kg"
        var what: String
        var measured: Moment
        var persons: [Choice]
    }

    var list: [Owned]
}

/// The range of what is shown.
struct RangeBar: Hashable, Sendable {
    /// Day, week, month, year.
    var ranges: [Tab]
    /// `Mon 23 to Sun 29 Nov`
    var label: String
    var earlier: String?
    /// `nil` at the present.
    var later: String?
}

/// Plots of all metrics, or of one.
struct ValuesSection: Hashable, Sendable {
    var range: RangeBar
    var plots: [Plot]
    /// Where all metrics are, if this is one.
    var all: String?
}

/// Nights, the last one first.
struct NightsSection: Hashable, Sendable {
    var range: RangeBar
    var list: [Night]
}

/// Workouts, the last one first.
struct WorkoutsSection: Hashable, Sendable {
    var range: RangeBar
    var sessions: [Workout]
}

/// Days as a table, the last one first.
struct DaysSection: Hashable, Sendable {
    var range: RangeBar
    var table: Table
}

/// Alerts that were raised, the last one first.
struct HistorySection: Hashable, Sendable {
    var range: RangeBar
    var past: [PastAlert]
    /// That older ones of the range are not listed.
    var cut: String?
}

/// An alert that was raised, and perhaps cleared.
struct PastAlert: Hashable, Sendable {
    var rule: String
    /// "raised" while it is active, "cleared" with the time, "over" without, "warning"
    var mark: Mark
    var value: String
    var limit: String
    var raised: Moment
    var cleared: Moment?
    var acknowledged: Acknowledgement?
}

/// What was refused or lost.
struct LossesSection: Hashable, Sendable {
    /// Of the newest synchronisation.
    var losses: [Loss]
    /// What the gateway has announced, the newest first.
    var announced: [Loss]
    /// What the driver or the gateway dropped since the gateway started: "9 values are beyond …".
    var drops: [String]
}

/// What was lost once.
struct Loss: Hashable, Sendable {
    var noticed: Moment
    /// In plain words, with the number.
    var text: String
    /// "from Mon 3 Nov, 02:00 to Tue 4 Nov, 08:00"
    var span: String?
    /// What can be done about it; `nil` for nothing.
    var advice: String?
}

/// The page of one night.
struct NightPage: Hashable, Sendable {
    var frame: Frame
    var deviceName: String
    var deviceLink: String
    var night: Night
    var earlier: String?
    var later: String?
    /// Heart rate, oxygen and breathing of the night.
    var plots: [Plot]
    /// The stages as they followed each other.
    var table: Table
}
