import GatewayKit
import Vitals

/// The recordings of a ring, which are read file by file, a part of one at a time. A file that was read stays in memory; the newest one may
/// still grow, so its size is asked for again.
actor O2Recordings {
    /// Longest time that one turn reads a file, before other requests to the ring have their turn.
    static let slice: Duration = .seconds(4)
    /// The longest time that one page reads; the next page continues.
    static let timeout: Duration = .seconds(40)

    private struct Entry: Sendable {
        var name: String
        var start: Timestamp
    }

    /// A file that is being read.
    private struct Part: Sendable {
        var name: String
        var size: Int
        var bytes: [UInt8] = []
        var block = 0

        var isWhole: Bool { bytes.count >= size }
    }

    private let queue: O2RequestQueue
    private let calendar: LocalCalendar
    private let clock: GatewayClock
    private let refused: RefusedFiles
    /// Files of this list that the ring has refused for too long.
    private var givenUp: Set<String> = []
    /// Oldest first.
    private var entries: [Entry] = []
    private var unreadableNames = 0
    /// The most files that a list had beyond those that are read.
    private var skipped = 0
    private var files: [String: [UInt8]] = [:]
    private var part: Part?

    init(_ queue: O2RequestQueue, calendar: LocalCalendar, clock: GatewayClock, notes: DeviceNotes) {
        self.queue = queue
        self.calendar = calendar
        self.clock = clock
        refused = RefusedFiles(notes, clock: clock)
    }

    /// Takes the names of the ring's files. What was read of others is forgotten.
    func list(_ names: [String]) async {
        await refused.removeAll(except: names)
        let known = names.map { name in (name, LocalTime(digits: String(name.prefix(14)))?.moment(in: calendar)) }
        unreadableNames = known.count { $0.1 == nil }
        entries = known.compactMap { name, start in start.map { Entry(name: name, start: $0) } }
            .sorted { ($0.start, $0.name) < ($1.start, $1.name) }
        files = files.filter { name, _ in names.contains(name) }
        givenUp = []
    }

    /// How many more files than in any list before are not read.
    func moreSkipped(_ count: Int) -> Int {
        defer { skipped = max(skipped, count) }
        return max(0, count - skipped)
    }

    /// A page: named by the name of its file, and the start of its first sample in milliseconds.
    ///
    /// It has samples of one file. It may be empty while a long file is read.
    func page(_ request: HistoryRequest) async throws(DeviceError) -> HistoryPage {
        let place = request.page.flatMap(Place.init)
        var malformed = request.page == nil ? unreadableNames : 0
        let limit = min(max(request.limit, 1), HistoryRequest.maximumLimit)
        let due = clock.uptime + Self.timeout
        for entry in entries(request, place) {
            while true {
                let isRead = try await read(entry.name)
                if isRead { break }
                guard clock.uptime < due else {
                    return HistoryPage(samples: [], next: Place(entry.name, request.from).text, malformed: malformed)
                }
            }
            if givenUp.contains(entry.name) { malformed += 1 }
            guard let bytes = files[entry.name] else { continue }
            let file: OxiFile
            do { file = try OxiFile(bytes) } catch {
                let isNewest = entry.name == entries.last?.name
                // The newest one may still be written.
                if isNewest, error == .unfinished { files[entry.name] = nil } else { malformed += 1 }
                continue
            }
            let from = place?.name == entry.name ? max(request.from, place?.from ?? request.from) : request.from
            let samples = file.samples(of: request.metric, in: calendar, from: from, to: request.to)
            guard !samples.isEmpty else { continue }
            let page = Array(samples.prefix(limit))
            let next =
                page.count < samples.count
                ? Place(entry.name, samples[limit].start)
                : following(entry, request).map { Place($0.name, request.from) }
            return HistoryPage(samples: page, next: next?.text, malformed: malformed)
        }
        return HistoryPage(samples: [], malformed: malformed)
    }

    /// Where a page begins.
    private struct Place: Sendable {
        var name: String
        var from: Timestamp

        init(_ name: String, _ from: Timestamp) { (self.name, self.from) = (name, from) }

        init?(_ text: String) {
            let parts = text.split(separator: "@")
            guard parts.count == 2, let from = Int64(parts[1]) else { return nil }
            self.init(String(parts[0]), Timestamp(milliseconds: from))
        }

        var text: String { "\(name)@\(from.milliseconds)" }
    }

    /// The files that may have samples of a request, from a place on.
    private func entries(_ request: HistoryRequest, _ place: Place?) -> [Entry] {
        let fitting = entries.filter { $0.start < request.to && $0.start + OxiFile.longestTime >= request.from }
        // A name is the start, so that the order holds also if the place's file was deleted meanwhile.
        return place.map { place in fitting.filter { $0.name >= place.name } } ?? fitting
    }

    private func following(_ entry: Entry, _ request: HistoryRequest) -> Entry? {
        let fitting = entries(request, nil)
        return fitting.firstIndex { $0.name == entry.name }.flatMap {
            $0 + 1 < fitting.count ? fitting[$0 + 1] : nil
        }
    }

    /// Reads a part of a file. Returns whether nothing of it is left to be read.
    private func read(_ name: String) async throws(DeviceError) -> Bool {
        let known = files[name]
        if known != nil, name != entries.last?.name { return true }
        let before = part?.name == name ? part : nil
        let (queue, clock, slice) = (queue, clock, Self.slice)
        let read = try await queue.requests.perform { () async throws(DeviceError) -> Finding<Part> in
            let size: Int
            switch try await Self.open(name, queue) {
            case .found(let found): size = found
            case .gone: return .gone
            case .refused: return .refused
            }
            // A file that has another size than before is read from its beginning.
            var part = before.flatMap { $0.size == size ? $0 : nil } ?? Part(name: name, size: size)
            if let known, known.count == size { part.bytes = known }
            let due = clock.uptime + slice
            while !part.isWhole, clock.uptime < due {
                let reply = try await queue.exchange(OxiRequest(command: .block, block: part.block))
                guard reply.block == part.block, !reply.content.isEmpty else {
                    throw DeviceError(.failure, "The ring sent another block than \(part.block) of \(name).")
                }
                part.bytes += reply.content
                part.block += 1
            }
            _ = try await queue.exchange(OxiRequest(command: .close))
            return .found(part)
        }
        return try await ingest(read, name)
    }

    /// What the ring has of a file: how long it is, or what a turn has read of it.
    private enum Finding<Found: Sendable>: Sendable {
        case found(Found)
        /// It no longer has the file.
        case gone
        /// It has the file, and does not open it, or reports no size that a file can have.
        case refused
    }

    /// Takes what was read of a file. Returns whether nothing of it is left to be read.
    private func ingest(_ outcome: Finding<Part>, _ name: String) async throws(DeviceError) -> Bool {
        part = nil
        switch outcome {
        case .gone: files[name] = nil
        case .refused:
            guard await refused.add(name) else {
                throw DeviceError(
                    .failure, "The ring lists its recording \(name), but does not open it. It is asked for again.")
            }
            // What was read of it before still counts.
            if files[name] == nil { givenUp.insert(name) }
        case .found(let read):
            await refused.remove(name)
            guard read.isWhole else {
                part = read
                return false
            }
            files[name] = Array(read.bytes.prefix(read.size))
        }
        return true
    }

    /// Opens a file. Only the ring's list shows whether a file that it does not open is gone.
    private static func open(_ name: String, _ queue: O2RequestQueue) async throws(DeviceError) -> Finding<Int> {
        do {
            let reply = try await queue.exchange(.open(name))
            let size = reply.content.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            if reply.content.count >= 4, size <= OxiFile.longest { return .found(size) }
        } catch { if error.code != .failure { throw error } }
        let list = try await queue.exchange(OxiRequest(command: .information))
        do { return try OxiInformation(list.content).files.contains(name) ? .refused : .gone } catch {
            throw DeviceError(.failure, "The ring cannot be read: \(error.problem).")
        }
    }
}
