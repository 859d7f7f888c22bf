import GRDB
import JSON
import Vitals

/// What was erased of devices, as rows.
enum ErasureTable {
    /// Since when each part of a device's samples is taken.
    static func erasures(of device: Int64, in database: Database) throws -> Erasures {
        let statement = try database.cachedStatement(sql: "SELECT slot, taken_from FROM erasure WHERE device = ?")
        return try Row.fetchAll(statement, arguments: [device]).reduce(into: Erasures()) { erasures, row in
            erasures.moments[ErasedPart(slot: row[0])] = Timestamp(milliseconds: row[1])
        }
    }

    /// The devices whose erasure was cut short.
    static func incomplete(in database: Database) throws -> [DeviceID] {
        try String.fetchAll(
            database,
            sql: """
                SELECT DISTINCT device.name FROM erasure JOIN device ON device.id = erasure.device
                WHERE is_complete = 0 ORDER BY device.name
                """
        ).compactMap { DeviceID($0) }
    }
}

extension ErasedPart {
    /// The number of a part in a row.
    var slot: Int {
        switch self {
        case .device: -2
        case .user(nil): -1
        case .user(let user?): user
        }
    }

    init(slot: Int) { self = slot == -2 ? .device : .user(slot == -1 ? nil : slot) }

    /// The samples and measurements of the part, as a condition.
    fileprivate var condition: String {
        switch self {
        case .device: "true"
        case .user(nil): "user IS NULL"
        case .user(let user?): "user = \(user)"
        }
    }

    /// The samples that wait, and of which the part is a candidate; `nil` for one that never is.
    fileprivate var waiting: String? {
        if case .user(let user?) = self { "whose LIKE '% \(user) %'" } else { nil }
    }
}

extension Transaction {
    /// Deletes what is stored of a part of a device, and notes that it is not taken again. Returns the number of deleted samples.
    ///
    /// Of a device that others use, too, the days and the levels of alerts go as a whole, since they combine all users; the days are
    /// summarised again from the samples that stay.
    func erase(_ erased: StoreErasure.Target, at moment: Timestamp) throws -> Int {
        try fold()
        let device = erased.device
        // The space ends the scope in a key, and `!` follows it.
        try dropAnswers("key >= ?1 AND key < ?2", ["\(device.text) ", "\(device.text)!"])
        if !erased.isConfigured {
            let known = try Int64.fetchOne(
                database, sql: "SELECT id FROM device WHERE name = ?", arguments: [device.text])
            if known == nil { return 0 }
        }
        let row = try cachedDevice(of: device).row
        let numbers = try eraseFacts(erased.parts, of: row)
        let isOfPart = "(\(erased.parts.map(\.condition).sorted().joined(separator: " OR ")))"
        // What waits may be the person's, too.
        let waiting = erased.parts.compactMap(\.waiting).sorted().map { " OR \($0)" }.joined()
        let ofDevice = "series IN (SELECT id FROM series WHERE device = ?) AND (\(isOfPart)\(waiting))"
        let newest = try Int64.fetchOne(
            database, sql: "SELECT max(start) FROM sample WHERE \(ofDevice)", arguments: [row])
        try execute("DELETE FROM sample WHERE \(ofDevice)", [row])
        let count = changes
        try execute("DELETE FROM alert_level WHERE device = ?", [row])
        // Warnings have no user slot.
        if !erased.parts.isDisjoint(with: [.device, .user(nil)]) {
            try execute("DELETE FROM warning WHERE device = ?", [row])
        }
        try execute("DELETE FROM alert_edge WHERE device = ? AND \(isOfPart)", [row])
        try execute("DELETE FROM driver_note WHERE device = ?", [row])
        try execute("DELETE FROM pending_statistics WHERE series IN (SELECT id FROM series WHERE device = ?)", [row])
        if erased.parts.contains(.device) { try eraseState(of: row) } else { try eraseDays(of: row, at: moment) }
        cache.devices[device] = nil
        guard erased.isConfigured else {
            try execute("DELETE FROM erasure WHERE device = ?", [row])
            try execute("DELETE FROM device WHERE id = ?", [row])
            return count
        }
        // A device's clock may be ahead of this one's by as much as is taken.
        let taken = min(
            max(moment, newest.map { Timestamp(milliseconds: $0 + 1) } ?? moment), moment + StoreErasure.ahead)
        for part in erased.parts {
            try execute(
                "INSERT OR REPLACE INTO erasure(device, slot, taken_from) VALUES (?, ?, ?)",
                [row, part.slot, taken.milliseconds])
        }
        try announce(numbers, of: device, at: moment)
        return count
    }

    /// Forgets that a person has seen alerts of any device: an active one is unacknowledged again.
    func eraseAcknowledgements(by person: String) throws {
        try fold()
        for table in ["alert_level", "alert_edge"] {
            try execute(
                "UPDATE \(table) SET acknowledged_by = NULL, acknowledged_at = NULL WHERE acknowledged_by = ?",
                [person])
        }
        // Their answers say who was first.
        try dropAnswers("instr(CAST(payload AS TEXT), ?1) > 0", [#""command":"acknowledge""#])
    }

    /// Takes again what was erased, from a moment on. The driver's notes say what it has delivered, so they go with the cursors.
    func takeAgain(from moment: Timestamp, in cached: inout CachedDevice) throws {
        try execute(
            "UPDATE erasure SET taken_from = min(taken_from, ?) WHERE device = ?", [moment.milliseconds, cached.row])
        try execute("DELETE FROM driver_note WHERE device = ?", [cached.row])
        for place in cached.series.indices {
            cached.series[place]?.cursor = nil
            cached.series[place]?.isChanged = true
        }
    }

    /// Deletes facts, sent or not. Returns the numbers of those that the broker does not have.
    private func eraseFacts(_ parts: Set<ErasedPart>, of row: Int64) throws -> [Int64] {
        var found: [(lane: Lane, sequence: Int64, samples: Int)] = []
        let facts = try Row.fetchCursor(
            database, sql: "\(OutboxTable.selection) WHERE message.device = ?", arguments: [row])
        while let values = try facts.next() {
            let fact = try OutboxRow(values)
            if try fact.isOf(parts) { found.append((fact.lane, fact.sequence, fact.samples)) }
        }
        var unsent: [Int64] = []
        for (lane, sequence, samples) in found {
            try execute("DELETE FROM message WHERE lane = ? AND sequence = ?", [lane.rawValue, sequence])
            guard sequence > cache.counters.lanes[lane.rawValue].acknowledged else { continue }
            count(-1, samples: -samples, in: lane)
            unsent.append(sequence)
        }
        let refused = try Row.fetchAll(
            database, sql: "\(QuarantineTable.selection) WHERE quarantine.device = ?", arguments: [row]
        ).map { try OutboxRow($0) }
        for fact in refused {
            if try fact.isOf(parts) { try execute("DELETE FROM quarantine WHERE sequence = ?", [fact.sequence]) }
        }
        return unsent.sorted()
    }

    /// Deletes the state, the days and the series of a device.
    private func eraseState(of row: Int64) throws {
        for table in ["day", "unsettled"] {
            try execute("DELETE FROM \(table) WHERE series IN (SELECT id FROM series WHERE device = ?)", [row])
        }
        try execute("DELETE FROM series WHERE device = ?", [row])
        try execute(
            """
            UPDATE device SET identity = NULL, capabilities = NULL, features = 0, twin = NULL, last_seen = NULL,
                last_sync = NULL WHERE id = ?
            """, [row])
    }

    /// Deletes the summaries of a device's days, has them made again, and finds the newest samples that are left.
    private func eraseDays(of row: Int64, at moment: Timestamp) throws {
        let all = try Row.fetchAll(database, sql: "SELECT id, metric FROM series WHERE device = ?", arguments: [row])
        for item in all {
            let series: Int64 = item[0]
            let isSeparated = Metric(rawValue: item[1] as String)?.isSeparated ?? false
            try execute(
                "INSERT INTO unsettled(series, day) SELECT series, day FROM day WHERE series = ? ON CONFLICT DO NOTHING",
                [series])
            // The revision stays, so that the next summary has a higher one.
            try execute(
                "UPDATE day SET summary = NULL, device_summary = NULL, is_final = NULL, updated_at = NULL WHERE series = ?",
                [series])
            // What stands beside another source's sample has a higher code, as have counts that their words separate.
            let newest = try Row.fetchOne(
                database,
                sql: """
                    SELECT start, duration, user_initiated FROM sample
                    WHERE series = ? AND withdrawn = 0 AND (user_initiated <= 1 OR ?)
                    ORDER BY start + duration DESC LIMIT 1
                    """, arguments: [series, isSeparated])
            let key = newest.flatMap { SampleKey($0, from: 0) }
            try execute(
                """
                UPDATE series SET high_water = ?, latest_start = ?, latest_duration = ?, latest_user_initiated = ?
                WHERE id = ?
                """,
                [key?.end.milliseconds, key?.start.milliseconds, key?.duration, key?.code, series])
        }
        let keepsPending = try Bool.fetchOne(database, sql: "SELECT keeps_pending_statistics FROM store") ?? false
        // Home Assistant's statistics may be deleted, too: they come again from the samples that stay.
        if keepsPending { try execute(PendingTable.everything, [moment.milliseconds]) }
    }

    /// Announces the numbers that will never be sent, so that no consumer waits for them.
    private func announce(_ numbers: [Int64], of device: DeviceID, at moment: Timestamp) throws {
        var rest = numbers.map { $0...$0 }.coalesced[...]
        repeat {
            let part = Array(rest.prefix(StoreErasure.gapRanges))
            rest = rest.dropFirst(part.count)
            let gap = Gap(
                metric: nil, from: nil, to: nil, count: nil, reason: .erased, at: moment, sequences: part)
            try publish(.gap(gap), in: .alert, of: device, at: moment)
        } while !rest.isEmpty
    }
}

extension OutboxRow {
    /// Whether it has something of one of these parts. A day combines all users; a gap has no values.
    fileprivate func isOf(_ parts: Set<ErasedPart>) throws -> Bool {
        if parts.contains(.device) { return true }
        return switch kind {
        case .measurement: parts.contains(.user(user))
        case .day: true
        case .alert, .lateAlert: try parts.contains(.user(AlertEvent(json: .kept(body)).user))
        case .gap: false
        case .question:
            try !Question(json: .kept(body)).candidates.allSatisfy { !parts.contains(.user($0)) }
        }
    }
}
