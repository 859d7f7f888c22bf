import GatewayKit
import Synchronization
import Vitals

/// Records of a document that are settled together, in their order.
struct Portion {
    private(set) var samples: [Sample] = []
    /// By its place, why a sample that only corrects is skipped if it corrects nothing; empty where that goes without saying.
    private(set) var corrections: [Int: String] = [:]
    private(set) var warnings: [DeviceAlert] = []
    /// Those of rules with limits.
    private(set) var alerts: [DeviceAlert] = []
    /// The last level of the phone's battery.
    var battery: DeviceEvent?
    /// What is settled with a receipt, by its place among its kind.
    private enum Settled { case sample(Int), warning(Int), alert(Int) }
    /// What becomes of each; of what is settled what the gateway says of it. Empty where answers say nothing of single records.
    private var places: [(entry: DocumentReport.Entry, settled: Settled?)] = []

    var isEmpty: Bool {
        samples.isEmpty && warnings.isEmpty && alerts.isEmpty && places.isEmpty && battery == nil
    }
    /// Whether there is room for another record.
    var hasRoom: Bool { max(samples.count + warnings.count + alerts.count, places.count) < PhoneLimits.batch }

    /// Adds a sample, which was reported now at the latest, whatever the phone's clock says.
    mutating func add(_ sample: Sample, at path: String?, now: Timestamp) {
        var sample = sample
        sample.reportedAt = sample.reportedAt.map { min($0, now) }
        if let path { places.append((DocumentReport.Entry(path: path, .new), .sample(samples.count))) }
        samples.append(sample)
    }

    /// Adds a sample that only corrects.
    mutating func add(correction sample: Sample, reason: String?, at path: String?, now: Timestamp) {
        corrections[samples.count] = reason ?? ""
        add(sample, at: path, now: now)
    }

    /// Why a sample is skipped that has this outcome; empty where that goes without saying, and `nil` if it is not.
    func skipping(_ place: Int, _ outcome: SettledReceipt.Outcome) -> String? {
        outcome == .known ? corrections[place] : nil
    }

    mutating func add(warning: DeviceAlert, at path: String?) {
        if let path { places.append((DocumentReport.Entry(path: path, .new), .warning(warnings.count))) }
        warnings.append(warning)
    }

    mutating func add(alert: DeviceAlert, at path: String?) {
        if let path { places.append((DocumentReport.Entry(path: path, .new), .alert(alerts.count))) }
        alerts.append(alert)
    }

    /// Notes what became of a record that is settled without a receipt.
    mutating func note(
        _ outcome: DocumentReport.Entry.Outcome, _ reason: String? = nil, at path: String?, _ member: String = ""
    ) {
        guard let path else { return }
        let place = member.isEmpty ? path : "\(path).\(member)"
        places.append((DocumentReport.Entry(path: place, outcome, reason: reason), nil))
    }

    /// What became of each record, once the gateway has said what became of the samples, the warnings and the alerts.
    func entries(
        _ outcomes: [SettledReceipt.Outcome], _ warned: [SettledReceipt.Outcome], _ alerted: [SettledReceipt.Outcome]
    ) -> [DocumentReport.Entry] {
        places.map { entry, settled in
            switch settled {
            case .sample(let place)? where outcomes.indices.contains(place):
                if let reason = skipping(place, outcomes[place]) {
                    DocumentReport.Entry(path: entry.path, .skipped, reason: reason)
                } else {
                    entry.settled(outcomes[place], samples[place].writtenViolation)
                }
            case .warning(let place)? where warned.indices.contains(place): entry.settled(warned[place])
            case .alert(let place)? where alerted.indices.contains(place): entry.settled(alerted[place])
            default: entry
            }
        }
    }
}

extension DocumentReport.Entry {
    /// The entry with what the gateway did with it, and of a refused one what is wrong with it.
    fileprivate func settled(
        _ result: SettledReceipt.Outcome, _ violation: @autoclosure () -> Violation? = nil
    ) -> Self {
        var entry = self
        switch result {
        case .new: entry.outcome = .new
        case .corrected: entry.outcome = .corrected
        case .known: entry.outcome = .known
        case .superseded: entry.outcome = .superseded
        case .refused(let error):
            entry.outcome = .refused
            entry.reason = error.message
            if let violation = violation() {
                entry.path += ".\(violation.path)"
                entry.reason = violation.message
            }
        }
        return entry
    }
}

extension Sample {
    /// The first reason to refuse it, by the member that a script's document has for it.
    var writtenViolation: Violation? {
        guard var violation = violations.first else { return nil }
        switch violation.path {
        case "start" where start == end && !metric.isInterval: violation.path = "time"
        case "distance_m": violation = Violation(path: "distance", message: violation.message + " (in m)")
        case "energy_kcal": violation = Violation(path: "energy", message: violation.message + " (in kcal)")
        case "value" where metric.shape != .count: violation.message += metric.unit.map { " (in \($0))" } ?? ""
        default: break
        }
        return violation
    }
}

/// When the last alert of each rule with a limit happened that the gateway has, over all sessions of a device.
final class SentAlerts: Sendable {
    private let last = Mutex<[AlertRule: Timestamp]>([:])

    /// Whether it happened after all alerts of its rule that the gateway has. A document that comes again has none of these.
    func isNew(_ alert: DeviceAlert) -> Bool {
        last.withLock { last in last[alert.rule].map { alert.at > $0 } ?? true }
    }

    /// Remembers what became of alerts: one that is refused is refused again. Not inlined in a function that waits: Decision 165.
    @inline(never)
    func remember(_ alerts: [DeviceAlert], _ outcomes: [SettledReceipt.Outcome]) {
        last.withLock { last in
            for (alert, outcome) in zip(alerts, outcomes) {
                if case .refused = outcome { continue }
                last[alert.rule] = max(last[alert.rule] ?? alert.at, alert.at)
            }
        }
    }
}
