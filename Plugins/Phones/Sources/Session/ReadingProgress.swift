import GatewayKit
import Vitals

/// Says how far the reading of long files is, every two seconds at most.
struct ReadingProgress {
    /// The time between two reports: that between two states of a synchronisation.
    static let interval: Duration = .seconds(2)

    private let inbox: EventInbox
    private let clock: GatewayClock
    private var next: Duration?

    init(_ inbox: EventInbox, _ clock: GatewayClock) { (self.inbox, self.clock) = (inbox, clock) }

    /// Reports a share from 0 to 1, if the last report is not too near.
    mutating func report(_ share: Double) async {
        let now = clock.uptime
        if let next, now < next { return }
        next = now + Self.interval
        await inbox.send([.progress(share)])
    }
}
