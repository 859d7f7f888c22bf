/// Compares the samples sent with those that arrived.
struct Integrity: Sendable {
    /// Samples that were sent but never arrived.
    var lost = 0
    /// Samples that the gateway confirmed as durable but that never arrived.
    var acknowledgedLost = 0
    var totals: Arrivals.Totals

    init(_ keys: [FeedProcess.Keys], historyCount: Int = 0, _ arrivals: Arrivals) {
        totals = arrivals.totals
        let devices = arrivals.devices
        for (device, keys) in zip(devices, keys) {
            lost += (0..<max(historyCount, keys.flooded)).count { !device.has($0) }
            lost += keys.paced.count { !device.has($0) }
            acknowledgedLost += keys.acknowledged.count { !device.has($0) }
        }
    }

    /// The figures that show whether anything is wrong.
    func figures(_ part: String, _ title: String) -> [Figure] {
        [
            Figure("\(part).lost", "\(title): lost", Double(lost), "samples", aim: .atMost(0)),
            Figure(
                "\(part).out_of_order", "\(title): out of order per device and metric", Double(totals.outOfOrder),
                "samples", aim: .atMost(0)),
            Figure(
                "\(part).new_ids", "\(title): new ids, or samples never fed",
                Double(totals.newIdentities + totals.strangers), "samples", aim: .atMost(0)),
            Figure(
                "\(part).holes", "\(title): holes in seq", Double(totals.holes), "messages", aim: .atMost(0),
                note: "\(totals.duplicates) duplicates under the same id"),
        ]
    }
}
