import Foundation
import GRDB
import JSON
import Vitals

extension Transaction {
    /// Gives stored samples to other persons, or takes them back. Their alerts follow in the history.
    /// - Parameter outcomes: what became of them is appended. One that nobody has seen, since it waited, is new.
    /// - Returns: the samples as stored now; one that is gone is left out.
    func move(
        _ ingest: Ingest, in cached: inout CachedDevice, outcomes: inout [SampleOutcome]
    ) throws -> [StoredSample] {
        guard !ingest.moves.isEmpty else { return [] }
        try fold()
        var moved: [StoredSample] = []
        let lookup = try RawStatement(SampleTable.lookup, in: database)
        for move in ingest.moves {
            var series = try series(move.metric, of: &cached)
            let found = try SampleTable.find(
                move.key, series: series.row, device: ingest.device, metric: move.metric, by: lookup)
            guard let former = found else { continue }
            var stored = former
            stored.sample.whose = .settled
            stored.revision += 1
            stored.receivedAt = ingest.receivedAt
            switch move.to {
            case .user(let user):
                stored.sample.user = user
                stored.isWithdrawn = false
                try rewrite(stored, series: series.row)
                try mark(stored, as: .counting, series: series.row)
                let isNew = Question(former) != nil
                var arrival = Arrival(
                    outcome: SampleOutcome(stored: stored, novelty: isNew ? .new : .corrected),
                    formerUser: former.sample.user)
                if move.metric.isInterval {
                    try settlePlace(of: &arrival, series: series, outcomes: &outcomes, ingest: ingest)
                }
                outcomes.append(arrival.outcome)
            case .nobody:
                stored.isWithdrawn = true
                try rewrite(stored, series: series.row)
                try mark(stored, as: .superseded, series: series.row)
                outcomes.append(SampleOutcome(stored: stored, novelty: former.isWithdrawn ? .known : .withdrawn))
                if move.metric.isInterval {
                    try restoreRivals(
                        of: stored.sample, user: stored.sample.user, hiddenOnly: true, series: series,
                        outcomes: &outcomes, ingest: ingest)
                }
                if let newest = try forgetNewest(former, series: &series, in: &cached, ingest) {
                    outcomes.append(newest)
                }
            }
            try EdgeTable.follow(stored, to: move.to, of: cached.row, in: database)
            moved.append(outcomes.last { $0.stored.isSameRecord(as: stored) }?.stored ?? stored)
        }
        return moved
    }
}

extension EdgeTable {
    /// Gives the edges that a sample caused to its person, also where they wait to be sent or are sent again. Those of nobody's sample are
    /// deleted from the history; what was sent of them, and is sent again, says so no more than before.
    fileprivate static func follow(
        _ stored: StoredSample, to target: SampleMove.To, of device: Int64, in database: Database
    ) throws {
        let id = stored.id
        let edges = try Row.fetchAll(
            database.cachedStatement(
                sql: "SELECT id, body FROM alert_edge WHERE device = ?1 AND measured_at = ?2"),
            arguments: [device, stored.sample.end.milliseconds])
        for row in edges {
            var event = try AlertEvent(json: .kept(row.bytes(at: 1)))
            guard event.sampleID == id else { continue }
            let key: String = row[0]
            guard case .user(let user) = target else {
                try database.cachedStatement(
                    sql: "DELETE FROM alert_edge WHERE device = ?1 AND measured_at = ?2 AND id = ?3"
                ).execute(arguments: [device, stored.sample.end.milliseconds, key])
                continue
            }
            event.user = user
            let body = StatementArguments([Data(event.json.bytes)])
            try database.cachedStatement(
                sql: "UPDATE alert_edge SET user = ?4, body = ?5 WHERE device = ?1 AND measured_at = ?2 AND id = ?3"
            ).execute(arguments: [device, stored.sample.end.milliseconds, key, user] + body)
            for kind in [OutboxTable.Kind.alert, .lateAlert] {
                try database.cachedStatement(
                    sql: """
                        UPDATE message SET body = ?4 WHERE device = ?1 AND kind = ?2
                            AND instr(CAST(body AS TEXT), ?3) > 0
                        """
                ).execute(arguments: [device, kind.rawValue, "\"id\":\"\(key)\""] as StatementArguments + body)
            }
        }
    }
}
