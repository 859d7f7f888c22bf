import Vitals

/// Makes nights and workouts of a device.
struct NightBuilder: Sendable {
    let device: ShownDevice
    let clock: PageClock

    /// A night; `nil` if the sample is no sleep.
    /// - Parameter naps: how many other sleeps ended on its day.
    func night(_ stored: StoredSample, naps: Int = 0) -> Night? {
        let sample = stored.sample
        let (first, last) = (clock.calendar.day(of: sample.start), clock.day(of: sample))
        let label =
            first == last ? clock.text(of: last) : "\(clock.text(of: first)) to \(clock.text(of: last))"
        guard case .sleep(let sleep) = sample.reading,
            let drawing = Hypnogram("Night", sample, in: clock.calendar)
        else { return nil }
        var remarks: [String] = []
        if naps > 0 { remarks.append(NumberText.count(naps, "nap")) }
        if stored.revision > 1 { remarks.append("corrected") }
        return Night(
            label: label, link: "\(device.path)/nights/\(last)", asleep: TimeText.span(minutes: sleep.minutesAsleep),
            began: clock.time(sample.start), ended: clock.time(sample.end), narrowSVG: drawing.svg(.narrow),
            wideSVG: drawing.svg(.wide), remark: remarks.isEmpty ? nil : remarks.joined(separator: ", "))
    }

    /// The longest sleep of each day on which one ended, and the number of the others, the last day first.
    func main(of samples: [StoredSample], within days: ClosedRange<LocalDay>) -> [(stored: StoredSample, naps: Int)] {
        let byDay = Dictionary(grouping: samples) { clock.day(of: $0.sample) }
        return byDay.filter { days.contains($0.key) }.sorted { $0.key > $1.key }.compactMap { _, sleeps in
            let longest = sleeps.max { ($0.sample.value ?? 0, $0.sample.end) < ($1.sample.value ?? 0, $1.sample.end) }
            return longest.map { (stored: $0, naps: sleeps.count - 1) }
        }
    }

    /// The stages of a night, as they followed each other.
    func stages(_ sample: Sample) -> Table {
        var rows: [TableRow] = []
        if case .sleep(let sleep) = sample.reading {
            rows = sleep.stages.map { stage in
                let minutes = Int((stage.end - stage.start).inMilliseconds / 60_000)
                return TableRow(
                    head: clock.time(stage.start).text, target: nil,
                    cells: [NightDepth(stage.depth).name, TimeText.span(minutes: minutes)])
            }
        }
        return Table(caption: "The stages of the night", columns: ["From", "Stage", "Time"], rows: rows)
    }

    /// A workout; `nil` if the sample is none.
    func workout(_ stored: StoredSample, zones: HeartRateZones?) -> Workout? {
        let sample = stored.sample
        guard case .sport(let sport) = sample.reading else { return nil }
        let words = sport.activity.split(separator: "_").joined(separator: " ")
        let name = words.prefix(1).uppercased() + words.dropFirst()
        var figures: [Figure] = []
        func add(_ label: String, _ value: Double?, _ unit: String?, decimals: Int = 0) {
            guard let value else { return }
            figures.append(
                Figure(label: label, text: NumberText.of(value, decimals: decimals), unit: unit, remark: nil))
        }
        add("Distance", sport.distance.map { $0 / 1000 }, "km", decimals: 2)
        add("Energy", sport.energy, "kcal")
        add("Steps", sport.steps.map(Double.init), nil)
        add("Mean heart rate", sport.averageHeartRate, "bpm")
        add("Highest", sport.maximumHeartRate, "bpm")
        var drawing: Zones?
        if let zones, zones.milliseconds.contains(where: { $0 > 0 }) {
            let day = clock.text(of: clock.day(of: sample))
            let bar = ZonesBar(
                "\(name), \(day)", zones, of: sample,
                maximum: device.twin?.desired?.exerciseMaximum.map { Int($0) })
            drawing = Zones(narrowSVG: bar.svg(.narrow), wideSVG: bar.svg(.wide))
        }
        return Workout(
            label: name, began: clock.moment(sample.start),
            duration: TimeText.span(minutes: Int(sample.value ?? 0)), figures: figures, zones: drawing)
    }
}
