import GatewayKit
import Vitals

/// Makes samples of a file's messages.
struct FITSamples {
    /// The metrics that FIT files can have.
    static let metrics: [Metric] = [
        .heartRate, .restingHeartRate, .bloodPressure, .bloodOxygen, .stress, .steps, .sleep, .sport,
        .heartRateVariability, .respiratoryRate, .weight, .distance, .activeEnergy, .vo2Max, .bodyFat, .bodyMassIndex,
    ]

    /// The samples that were made and not handed out yet.
    var ready: [Sample] = []
    let skipped = SkippedRows()
    /// The wearables of the file.
    private(set) var origins: Set<SampleOrigin> = []
    /// How many messages of each kind are not read.
    private(set) var unread: [UInt16: Int] = [:]
    private(set) var count = 0
    /// Running counts, which go on in the next file.
    var counts: FITCounts

    private let order: SourceOrder
    private let calendar: LocalCalendar
    private var part = Part()
    /// The kind of message that is read.
    private var kind = FITProfile.Message.fileID

    /// What is known of one of the files that follow each other in one.
    private struct Part {
        var origin: SampleOrigin?
        var hasWorkouts = true
        /// Seconds since 1989-12-31 of the last message.
        var time: UInt32 = 0
        /// Of the wearable's clock from UTC, in seconds.
        var offset: Int64?
        var pending: [Int64: [Double?]] = [:]
        var sessions: [Sample] = []
        var laps: [Sport.Lap] = []
        var lowestRate: Double?
        var night = FITNight()
    }

    init(_ counts: FITCounts, order: SourceOrder, calendar: LocalCalendar) {
        (self.counts, self.order, self.calendar) = (counts, order, calendar)
    }

    /// Reads a message.
    mutating func add(_ message: FITMessage) {
        guard let kind = FITProfile.Message(rawValue: message.number) else {
            return unread[message.number, default: 0] += 1
        }
        if kind == .fileID { begin(message) }
        self.kind = kind
        if let time = message.time {
            if time != part.time { settleCounts() }
            part.time = time
        }
        switch kind {
        case .fileID, .fieldDescription: break
        case .session: if part.hasWorkouts { addSession(message) }
        case .lap: if part.hasWorkouts { addLap(message) }
        case .record: addRecord(message)
        case .event:
            if message.integer(FITProfile.Event.event) == FITProfile.Event.sleep,
                message.integer(FITProfile.Event.type) == 0
            {
                endNight()
                part.night.begin(at: moment)
            }
        case .monitoring: addMonitoring(message)
        case .monitoringInfo: readOffset(message.integer(FITProfile.MonitoringInfo.local))
        case .sleepLevel: addSleepLevel(message)
        case .weightScale: addWeight(message)
        case .bloodPressure: addPressure(message)
        case .monitoringHRData: value(.restingHeartRate, message.number(FITProfile.Resting.today), at: moment)
        case .stressLevel:
            // Below 1 are codes for why nothing was measured.
            let level = message.number(FITProfile.Stress.level)
            guard let level, ValidRange.stress.contains(level) else { return }
            value(.stress, level, at: message.timestamp(FITProfile.Stress.time) ?? moment)
        case .maxMet:
            value(
                .vo2Max, message.number(FITProfile.MaxMet.vo2Max),
                at: message.timestamp(FITProfile.MaxMet.time) ?? moment)
        case .spo2Data:
            value(.bloodOxygen, message.number(FITProfile.Oxygen.reading).flatMap { $0 > 0 ? $0 : nil }, at: moment)
        case .respirationRate:
            value(
                .respiratoryRate, message.number(FITProfile.Respiration.rate).flatMap { $0 > 0 ? $0 : nil }, at: moment)
        case .variability:
            value(
                .heartRateVariability, message.number(FITProfile.Variability.value), at: moment,
                [.statistic: "rmssd"])
        }
    }

    /// Hands out what is complete only at the end of a file.
    mutating func end() {
        settleCounts()
        endNight()
        kind = .session
        for var sample in part.sessions {
            if case .sport(var sport) = sample.reading {
                // A device that has dropped most records may say a mean below all that it kept.
                let highest = sport.averageHeartRate ?? sport.maximumHeartRate ?? .infinity
                if part.sessions.count == 1, let lowest = part.lowestRate, lowest <= highest {
                    sport.minimumHeartRate = sport.minimumHeartRate ?? lowest
                }
                sport.laps = takeLaps(of: sample)
                sample.reading = .sport(sport)
            }
            emit(sample)
        }
        // Those of no workout.
        if !part.laps.isEmpty { unread[FITProfile.Message.lap.rawValue, default: 0] += part.laps.count }
        part = Part()
    }

    private mutating func begin(_ message: FITMessage) {
        end()
        let maker = FITProfile.maker(message.integer(FITProfile.FileID.maker) ?? 0)
        let numbers = [FITProfile.FileID.product, FITProfile.FileID.serial].compactMap { message.integer($0) }
        let origin = order.origin(
            of: ([maker.name] + numbers.map { "\($0)" }).joined(separator: " "), maker.isWatch ? .watch : .other,
            otherNames: [maker.name])
        part.origin = origin
        origins.insert(origin)
        let type = message.integer(FITProfile.FileID.type)
        part.hasWorkouts = type == nil || type == FITProfile.FileID.activity
    }

    // MARK: - Values

    private var moment: Timestamp { Timestamp(fit: Int64(part.time)) }
    private var origin: SampleOrigin { part.origin ?? SourceOrder.nameless }

    /// Hands out a sample of a person at a time that can be.
    private mutating func emit(_ sample: Sample) {
        guard sample.start >= OpenExport.earliest else { return skipped.add(.withoutTime, in: "\(kind)") }
        guard sample.isValid else { return skipped.add(.implausible, in: "\(kind)") }
        count += 1
        var sample = sample
        sample.origin = origin
        ready.append(sample)
    }

    private mutating func value(
        _ metric: Metric, _ number: Double?, at moment: Timestamp, _ qualifiers: [Qualifier: String] = [:],
        isExercise: Bool? = nil, user: Int? = nil
    ) {
        guard let number else { return }
        emit(
            Sample(
                metric: metric, start: moment, isExercise: isExercise, user: user, qualifiers: qualifiers,
                reading: .value(number)))
    }

    private mutating func addRecord(_ message: FITMessage) {
        guard part.hasWorkouts, let rate = message.number(FITProfile.Record.heartRate), rate > 0 else { return }
        if ValidRange.heartRate.contains(rate) { part.lowestRate = min(part.lowestRate ?? rate, rate) }
        value(.heartRate, rate, at: moment, isExercise: true)
    }

    private mutating func addWeight(_ message: FITMessage) {
        let user = message.integer(FITProfile.Weight.user).flatMap { Int(exactly: $0) }
        // 655.34 stands for a weight that is still being worked out.
        let weight = message.number(FITProfile.Weight.weight).flatMap { $0 < 655.34 ? $0 : nil }
        value(.weight, weight, at: moment, user: user)
        value(.bodyFat, message.number(FITProfile.Weight.fat), at: moment, user: user)
        value(.bodyMassIndex, message.number(FITProfile.Weight.massIndex), at: moment, user: user)
    }

    private mutating func addPressure(_ message: FITMessage) {
        guard let systolic = message.number(FITProfile.Pressure.systolic),
            let diastolic = message.number(FITProfile.Pressure.diastolic)
        else { return skipped.add(.incomplete, in: "\(kind)") }
        emit(
            Sample(
                metric: .bloodPressure, start: moment,
                user: message.integer(FITProfile.Pressure.user).flatMap { Int(exactly: $0) },
                reading: .bloodPressure(
                    BloodPressure(
                        systolic: systolic, diastolic: diastolic,
                        pulse: message.number(FITProfile.Pressure.heartRate)))))
    }

    private mutating func addSession(_ message: FITMessage) {
        typealias Session = FITProfile.Session
        guard let start = message.timestamp(Session.start) else {
            return skipped.add(.incomplete, in: "\(kind)")
        }
        let end = message.number(Session.elapsed).map { start + .milliseconds(Int64(($0 * 1000).rounded())) } ?? moment
        let length = end - start
        let kind = message.integer(Session.sport) ?? 0
        func rate(_ field: FITField) -> Double? {
            message.number(field).flatMap { ValidRange.heartRate.contains($0) ? $0 : nil }
        }
        let steps = FITProfile.onFoot.contains(kind) ? message.integer(Session.cycles).map { $0 * 2 } : nil
        let sport = Sport(
            activity: FITProfile.sport(kind, message.integer(Session.subSport)),
            distance: ValidRange.possible(
                message.number(Session.distance), SampleLimits.distance, at: SampleLimits.speed, in: length),
            energy: ValidRange.possible(energy: message.number(Session.calories), in: length),
            steps: steps.flatMap { Int(exactly: $0) }.flatMap {
                ValidRange.isPossible(steps: $0, in: length) ? $0 : nil
            },
            minimumHeartRate: rate(Session.minimumHeartRate), averageHeartRate: rate(Session.averageHeartRate),
            maximumHeartRate: rate(Session.maximumHeartRate))
        part.sessions.append(Sample(metric: .sport, start: start, end: end, reading: .sport(sport)))
    }

    private mutating func addLap(_ message: FITMessage) {
        typealias Lap = FITProfile.Lap
        guard let start = message.timestamp(Lap.start) else { return skipped.add(.incomplete, in: "\(kind)") }
        let end = message.number(Lap.elapsed).map { start + .milliseconds(Int64(($0 * 1000).rounded())) } ?? moment
        guard start <= end else { return skipped.add(.implausible, in: "\(kind)") }
        func rate(_ field: FITField) -> Double? {
            message.number(field).flatMap { ValidRange.heartRate.contains($0) ? $0 : nil }
        }
        part.laps.append(
            Sport.Lap(
                from: start, to: end,
                distance: ValidRange.possible(
                    message.number(Lap.distance), SampleLimits.distance, at: SampleLimits.speed, in: end - start),
                energy: ValidRange.possible(energy: message.number(Lap.calories), in: end - start),
                averageHeartRate: rate(Lap.averageHeartRate), maximumHeartRate: rate(Lap.maximumHeartRate)))
        if part.laps.count > SampleLimits.laps {
            part.laps.removeLast()
            skipped.add(.tooMany, in: "\(kind)", limit: SampleLimits.laps)
        }
    }

    /// The laps within a workout, whose times may be rounded to a second.
    private mutating func takeLaps(of workout: Sample) -> [Sport.Lap] {
        // One that ends before its start is refused later.
        guard workout.start <= workout.end else { return [] }
        let bounds = workout.start - .seconds(1)...workout.end + .seconds(1)
        let isWithin = { (lap: Sport.Lap) in bounds.contains(lap.start) && bounds.contains(lap.end) }
        let found = part.laps.filter(isWithin)
        part.laps.removeAll(where: isWithin)
        return found.map { lap in
            var lap = lap
            lap.start = min(max(lap.start, workout.start), workout.end)
            lap.end = max(min(lap.end, workout.end), lap.start)
            return lap
        }.sorted { ($0.start, $0.end) < ($1.start, $1.end) }
    }

    // MARK: - Monitoring

    private mutating func addMonitoring(_ message: FITMessage) {
        typealias Monitoring = FITProfile.Monitoring
        if message.time == nil, let low = message.integer(Monitoring.time16) {
            let step = (UInt32(truncatingIfNeeded: low) &- part.time) & 0xffff
            if step > 0 { settleCounts() }
            part.time &+= step
        }
        readOffset(message.integer(Monitoring.local))
        if let rate = message.number(Monitoring.heartRate), rate > 0 {
            value(.heartRate, rate, at: moment)
        }
        let activity =
            message.integer(Monitoring.activity) ?? message.integer(Monitoring.activityAndIntensity).map { $0 & 0x1f }
        guard let activity, activity != FITProfile.all else { return }
        let amounts = [
            FITProfile.withSteps.contains(activity) ? message.number(Monitoring.cycles) : nil,
            message.number(Monitoring.distance), message.number(Monitoring.activeCalories),
        ]
        guard amounts.contains(where: { $0 != nil }) else { return }
        let before = part.pending[activity] ?? [nil, nil, nil]
        part.pending[activity] = zip(amounts, before).map { $0 ?? $1 }
    }

    /// Reads how far the wearable's clock is from UTC, by its local time beside the present one.
    private mutating func readOffset(_ local: Int64?) {
        guard let local else { return }
        let offset = local - Int64(part.time)
        if abs(offset) <= 16 * 3600 { part.offset = offset }
    }

    /// Counts what the messages of one time have.
    private mutating func settleCounts() {
        guard !part.pending.isEmpty else { return }
        defer { part.pending = [:] }
        guard moment >= OpenExport.earliest else { return skipped.add(.withoutTime, in: "\(kind)") }
        let offset = part.offset ?? Int64(calendar.offset(at: moment).seconds)
        let samples = counts.samples(
            of: part.pending, at: moment.milliseconds / 1000, offset: offset, origin: origin, skipped)
        for sample in samples { emit(sample) }
    }

    // MARK: - Sleep

    private mutating func addSleepLevel(_ message: FITMessage) {
        guard let level = message.integer(FITProfile.SleepLevel.level) else { return }
        if part.night.isOver(at: moment) { endNight() }
        if !part.night.add(FITProfile.SleepLevel.depths[level], until: moment) {
            skipped.add(.tooMany, in: "\(kind)", limit: SampleLimits.stages)
        }
    }

    private mutating func endNight() {
        let night = part.night
        part.night = FITNight()
        if let sample = night.sample { emit(sample) }
    }
}

/// A night by its levels: each is that of the time since the one before, or since the sleep began. So it is in Garmin's files by Gadgetbridge.
struct FITNight {
    private var last: Timestamp?
    private var stages: [Sleep.Stage] = []

    /// Begins with the event of falling asleep.
    mutating func begin(at moment: Timestamp) { last = moment }

    /// Whether a level of this time belongs to another night.
    func isOver(at moment: Timestamp) -> Bool {
        last.map { moment < $0 || moment - $0 > NightLimits.stage } ?? false
    }

    /// Adds a level; `nil` is unmeasurable. Returns `false` beyond the most stages of a sleep.
    mutating func add(_ depth: Sleep.Stage.Depth?, until moment: Timestamp) -> Bool {
        defer { last = moment }
        guard let depth, let start = last, start < moment else { return true }
        if let final = stages.last, final.depth == depth, final.end == start {
            stages[stages.count - 1].end = moment
            return true
        }
        guard stages.count < SampleLimits.stages else { return false }
        stages.append(Sleep.Stage(depth, from: start, to: moment))
        return true
    }

    /// The night; `nil` if nothing of it is sleep.
    var sample: Sample? {
        guard let first = stages.first, let last = stages.last, stages.contains(where: { $0.depth != .awake }) else {
            return nil
        }
        return Sample(
            metric: .sleep, start: first.start, end: last.end, reading: .sleep(Sleep(stages: stages)))
    }
}
