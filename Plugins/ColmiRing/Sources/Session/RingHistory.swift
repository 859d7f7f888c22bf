import GatewayKit
import Vitals

/// The records of the ring's memory, which it sends day by day and without a cursor. Each first page asks for its days again, since the
/// running day grows and a night is corrected.
actor RingHistory {
    /// The days that a ring keeps, with the running one.
    static let days = 7

    private let queue: RingRequestQueue
    private let clock: RingClock
    private let zone: RingZone
    /// What was read in this session, by the ring's days.
    private var read: [Metric: [LocalDay: DayRecords]] = [:]
    /// Whether the ring was seen to count steps by quarters of an hour.
    private var countsQuarters = false

    init(_ queue: RingRequestQueue, _ clock: RingClock, _ zone: RingZone) {
        self.queue = queue
        self.clock = clock
        self.zone = zone
    }

    /// A page of what the ring has. The first page reads it anew.
    func page(_ request: HistoryRequest) async throws(DeviceError) -> HistoryPage {
        if request.page == nil { try await refresh(request) }
        let all = (read[request.metric] ?? [:]).values.flatMap(\.samples).sorted {
            ($0.start, $0.end) < ($1.start, $1.end)
        }
        return HistoryPage(of: all, for: request, malformed: request.page == nil ? refused(request) : 0)
    }

    private func refused(_ request: HistoryRequest) -> Int {
        (read[request.metric] ?? [:]).filter { day, _ in
            zone.moment(day, minute: 0) < request.to && zone.moment(day.advanced(by: 1), minute: 0) > request.from
        }.values.reduce(0) { $0 + $1.refused }
    }

    private func refresh(_ request: HistoryRequest) async throws(DeviceError) {
        switch request.metric {
        case .heartRate:
            try await clock.synchronise()
            for day in await wanted(request) {
                let asked = await clock.now
                let reply = try await queue.ask(
                    RingRequest.heartRates(of: day), for: DayLogReply(RingRequest.heartRateLog))
                store([day: decoder(asked).heartRates(reply, day)], of: .heartRate, keepsOthers: true)
            }
        case .stress:
            for day in await wanted(request) {
                let (_, asked, reply) = try await clock.withToday { [queue] today throws(DeviceError) in
                    let packet = RingRequest.stress(daysAgo: today.number - day.number)
                    return try await queue.ask(packet, for: DayLogReply(RingRequest.stressLog))
                }
                store([day: decoder(asked).stress(reply, day)], of: .stress, keepsOthers: true)
            }
        case .steps:
            for day in await wanted(request) {
                let (_, asked, reply) = try await clock.withToday { [queue] today throws(DeviceError) in
                    try await queue.ask(RingRequest.steps(daysAgo: today.number - day.number), for: StepReply())
                }
                if reply.records.contains(where: { $0.quarter % 4 != 0 }) { countsQuarters = true }
                let records = decoder(asked).steps(reply, day, byQuarters: countsQuarters)
                store([day: records], of: .steps, keepsOthers: true)
            }
        case .bloodOxygen: try await refresh(.bloodOxygen, BigMessage.oxygen) { $0.oxygen($1, today: $2) }
        case .sleep: try await refresh(.sleep, BigMessage.sleep) { $0.sleeps($1, today: $2) }
        case .skinTemperature:
            try await refresh(.skinTemperature, BigMessage.temperature) { $0.temperatures($1, today: $2) }
        default: throw .unsupported("the history of \(request.metric.rawValue)")
        }
    }

    private func refresh(
        _ metric: Metric, _ type: UInt8,
        _ decode: @Sendable (RecordDecoder, [UInt8], LocalDay) -> [LocalDay: DayRecords]
    ) async throws(DeviceError) {
        let (today, asked, body) = try await clock.withToday { [queue] _ throws(DeviceError) in
            try await queue.ask(message: type)
        }
        store(decode(decoder(asked), body, today), of: metric, keepsOthers: false)
    }

    private func store(_ days: [LocalDay: DayRecords], of metric: Metric, keepsOthers: Bool) {
        var all = keepsOthers ? read[metric] ?? [:] : [:]
        all.merge(days) { $1 }
        if let newest = all.keys.max() { all = all.filter { $0.key > newest.advanced(by: -Self.days - 1) } }
        read[metric] = all
    }

    /// Decodes what was asked for at a moment. What is over only when the answer is there may not have been when the ring read its memory.
    private func decoder(_ asked: Timestamp) -> RecordDecoder { RecordDecoder(zone: zone, asked: asked) }

    /// The days to ask for, oldest first; one at least, so that the ring is asked.
    private func wanted(_ request: HistoryRequest) async -> [LocalDay] {
        let today = zone.day(of: await clock.now)
        let oldest = today.advanced(by: 1 - Self.days)
        let first = min(max(zone.day(of: request.from), oldest), today)
        let last = max(min(zone.day(of: request.to), today), first)
        return (first.number...last.number).map { LocalDay(number: $0) }
    }
}

/// The logs of one day.
struct DayRecords: Sendable, Hashable {
    var samples: [Sample] = []
    /// Records that cannot be used.
    var refused = 0
}
