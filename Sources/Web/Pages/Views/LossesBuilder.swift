import Vitals

/// Says what of a device was refused or lost.
struct LossesBuilder: Sendable {
    /// The most announced losses of a page.
    static let maximumGaps = 100

    let device: ShownDevice
    let clock: PageClock

    /// What the newest synchronisation and the driver have refused, and the losses that the gateway has announced.
    func section(_ gaps: [Gap]) -> LossesSection {
        let drops = (device.sync?.skipped ?? [:]).sorted { $0.key < $1.key }
            .map { "\(NumberText.count($0.value, "value")) \(Wording.text(ofSkipped: $0.key, isOne: $0.value == 1))" }
        return LossesSection(
            losses: (device.sync?.rows ?? []).flatMap(losses), announced: gaps.filter { !isShown($0) }.map(loss),
            drops: drops)
    }

    /// Whether a gap says the same as a row of the newest synchronisation.
    private func isShown(_ gap: Gap) -> Bool {
        guard gap.reason == .refused, gap.sequences.isEmpty, let sync = device.sync, let began = sync.startedAt,
            let ended = sync.lastSuccessAt, began <= gap.at, gap.at <= ended
        else { return false }
        return sync.rows.contains { $0.metric == gap.metric && !$0.refused.isEmpty }
    }

    private func losses(_ row: SyncState.Row) -> [Loss] {
        let (name, refused) = (Wording.name(of: row.metric), row.refused)
        let noticed = clock.moment(device.sync?.startedAt ?? device.sync?.lastSuccessAt ?? clock.now)
        var losses: [Loss] = []
        if !refused.isEmpty {
            losses.append(
                Loss(
                    noticed: noticed, text: "\(name): \(reasons(refused.counts)).",
                    span: span(from: refused.from, to: refused.to), advice: advice(refused.counts)))
        }
        if row.postponed > 0 {
            let verb = row.postponed == 1 ? "starts" : "start"
            losses.append(
                Loss(
                    noticed: noticed,
                    text: "\(name): \(NumberText.count(row.postponed, "record")) \(verb) in the future, and "
                        + "\(row.postponed == 1 ? "stays" : "stay") on the device until then.",
                    span: nil, advice: advice([.future: row.postponed])))
        }
        return losses
    }

    private func loss(_ gap: Gap) -> Loss {
        let name = gap.metric.map { "\(Wording.name(of: $0)): " } ?? ""
        // Gaps without a metric count facts of any kind.
        let count = gap.count.map { NumberText.count($0, gap.metric == nil ? "message" : "record") }
        let (what, verb) = (count ?? "some", gap.count == 1 ? "was" : "were")
        var help: String?
        let text: String
        switch gap.reason {
        case .evicted:
            text = "\(name)\(what) \(verb) dropped before the broker had taken \(gap.count == 1 ? "it" : "them")."
            help = "The values may still be in the store, and on these pages. Programs can ask for the history."
        case .storeReset: text = "The store was damaged, or replaced by a backup. What came since the backup is lost."
        case .device:
            text = "The device was away for longer than it keeps its history: records may be missing."
            help = "Bring it into reach, or let its app run, more often."
        case .refused where gap.refused.isEmpty:
            text = "\(name)\(what) \(verb) not taken by the broker."
            help = "Correct the broker's limit or access list, then ask for a replay."
        case .refused:
            text = "\(name)\(reasons(gap.refused))."
            help = advice(gap.refused)
        case .erased: text = "A person's data was erased. What of it was not sent yet is not sent any more."
        }
        return Loss(noticed: clock.moment(gap.at), text: text, span: span(from: gap.from, to: gap.to), advice: help)
    }

    private func reasons(_ counts: [RefusalReason: Int]) -> String {
        counts.sorted { $0.key.rawValue < $1.key.rawValue }.map { reason, count in
            "\(NumberText.count(count, "record")) \(Wording.text(of: reason, isOne: count == 1))"
        }.joined(separator: "; ")
    }

    private func advice(_ counts: [RefusalReason: Int]) -> String? {
        counts[.future].map { _ in "Set the device's clock: its times are ahead." }
    }

    private func span(from: Timestamp?, to: Timestamp?) -> String? {
        let words = [from.map { "from \(clock.moment($0).text)" }, to.map { "to \(clock.moment($0).text)" }]
        return from == nil && to == nil ? nil : words.compactMap { $0 }.joined(separator: " ")
    }
}
