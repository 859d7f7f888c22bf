import JSON
import Vitals

extension JSONWriter {
    /// Writes a day of `summary/read`, with its samples in the format of Vitals Link.
    mutating func linkSummary(_ summary: DailySummary) {
        beginObject()
        key("date")
        string("\(summary.day)")
        member("count", summary.count)
        member("manual_count", summary.manualCount)
        switch summary.details {
        case .values(let extremes):
            member("average", summary.average)
            linkItem("maximum", extremes.maximum)
            linkItem("minimum", extremes.minimum)
            member("resting", array: extremes.resting) { $0.linkSample($1.sample) }
        case .bloodPressure(let extremes):
            key("average")
            if let average = extremes.average {
                beginObject()
                member("systolic", average.systolic)
                member("diastolic", average.diastolic)
                member("pulse", average.pulse)
                endObject()
            } else {
                null()
            }
            linkItem("maximum_systolic", extremes.maximumSystolic)
            linkItem("minimum_systolic", extremes.minimumSystolic)
            linkItem("maximum_diastolic", extremes.maximumDiastolic)
            linkItem("minimum_diastolic", extremes.minimumDiastolic)
        case .count(let total, let distance, let energy):
            member("total", total)
            member("distance_m", distance)
            member("energy_kcal", energy)
        case .sleep(let totals):
            member("total", totals.asleep)
            member("deep_min", totals.deep)
            member("light_min", totals.light)
            member("rem_min", totals.rem)
            member("awake_min", totals.awake)
            member("asleep_min", totals.unstaged)
            member("in_bed_min", totals.inBed)
            member("start", totals.start?.milliseconds)
            member("end", totals.end?.milliseconds)
        case .sport(let totals):
            member("total", totals.minutes)
            member("sessions", totals.sessions)
            member("distance_m", totals.distance)
            member("energy_kcal", totals.energy)
        }
        endObject()
    }

    private mutating func linkItem(_ name: StaticString, _ stored: StoredSample?) {
        key(name)
        if let stored { linkSample(stored.sample) } else { null() }
    }
}
