import GatewayKit
import Vitals

/// The ring's clock. The protocol cannot read it: it is set when a session opens, and again before it can be wrong.
actor RingClock {
    /// After this time it is set again: a quartz is off by less than half a second then.
    static let interval: Duration = .hours(6)
    /// It is set again when the gateway's own clock was corrected by more.
    static let tolerance: Duration = .seconds(2)
    /// This close to the ring's midnight, no request counts days back from today: the ring may already have another day.
    static let margin: Duration = .seconds(10)

    private let queue: RingRequestQueue
    private let zone: RingZone
    private let clock: GatewayClock
    private var setting: (to: Timestamp, at: Duration)?

    init(_ queue: RingRequestQueue, _ zone: RingZone, clock: GatewayClock) {
        self.queue = queue
        self.zone = zone
        self.clock = clock
    }

    /// What the clock shows now, as a moment.
    var now: Timestamp { setting.map { $0.to + (clock.uptime - $0.at) } ?? clock.now }

    /// Sets the clock to a moment that is now. The ring gets what it has become when its turn comes: it may have to answer others first,
    /// and an answer may be lost.
    func set(to moment: Timestamp) async throws(DeviceError) {
        let begin = clock.uptime
        try await queue.send(
            { [clock, zone] () throws(DeviceError) in
                do throws(FormatError) { return try RingRequest.time(moment + (clock.uptime - begin), zone) } catch {
                    throw DeviceError(.invalid, "The clock cannot be set: \(error.problem).")
                }
            }, command: RingRequest.time)
        setting = (moment, begin)
    }

    /// Sets the clock if that was long ago, or it was wrong.
    func synchronise() async throws(DeviceError) {
        let off = now - clock.now
        if let setting, clock.uptime - setting.at < Self.interval, max(off, .zero - off) <= Self.tolerance { return }
        try await set(to: clock.now)
    }

    /// Asks for something that the ring sends by days ago.
    /// - Returns: the answer, the day on which it was given, and when it was asked for.
    func withToday<Value: Sendable>(
        _ question: @Sendable (LocalDay) async throws(DeviceError) -> Value
    ) async throws(DeviceError) -> (day: LocalDay, asked: Timestamp, value: Value) {
        for _ in 0..<2 {
            try await synchronise()
            try await passMidnight()
            let asked = now
            let day = zone.day(of: asked)
            let value = try await question(day)
            if zone.day(of: now) == day { return (day, asked, value) }
        }
        throw DeviceError(.busy, "The ring's day ended while it answered; ask again.")
    }

    private func passMidnight() async throws(DeviceError) {
        let nearest = [0, 1].map { zone.moment(zone.day(of: now).advanced(by: $0), minute: 0) }
        guard let midnight = nearest.first(where: { max($0 - now, now - $0) < Self.margin }) else { return }
        do { try await clock.sleep(for: midnight + Self.margin - now) } catch {
            throw DeviceError(.disconnected, "The gateway no longer waits for the ring.")
        }
    }
}
