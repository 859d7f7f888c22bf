import Contract
import Foundation
import GatewayKit
import HTTPTypes
import JSON
import Logging
import Synchronization
import TestSupport
import Vitals

@testable import Web

/// What the API reads and commands in tests: devices, states, samples and answers that a test sets.
final class ShownData: GatewayReader, GatewayCommander {
    /// 2026-11-18.
    static let dawn = Timestamp(seconds: 1_794_960_000)

    struct State {
        var devices: [ConfiguredDevice] = []
        var states: [DeviceID: [DeviceState]] = [:]
        var samples: [StoredSample] = []
        var days: [DayRecord] = []
        var alerts: [AlertEvent] = []
        var failure: StoreError?
        /// The answers to the next commands: the payload, and whether it is the final one.
        var answers: [(payload: String, isFinal: Bool)] = []
        /// The commands that came: device and name, and arguments.
        var commands: [(name: String, arguments: String)] = []
        /// How many entries the reads were asked for.
        var limits: [Int] = []
    }
    private let state = Mutex(State())

    init(_ change: (inout State) -> Void = { _ in }) { state.withLock { change(&$0) } }

    func set(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }
    var now: State { state.withLock { $0 } }

    /// Throws what was set to fail.
    private func readable(_ limit: Int) throws(StoreError) -> State {
        let now = state.withLock { state in
            state.limits.append(limit)
            return state
        }
        if let failure = now.failure { throw failure }
        return now
    }

    var devices: [ConfiguredDevice] { now.devices }
    func states(of device: DeviceID) async -> [DeviceState] { now.states[device] ?? [] }
    func samples(
        of device: DeviceID, _ metric: Metric, starting range: Range<Timestamp>, after: SampleKey?, limit: Int
    ) async throws(StoreError) -> [StoredSample] {
        let found = try readable(limit).samples.filter { stored in
            stored.sample.metric == metric && range.contains(stored.sample.start)
                && after.map { $0 < SampleKey(stored.sample) } ?? true
        }
        return Array(found.sorted { SampleKey($0.sample) < SampleKey($1.sample) }.prefix(limit))
    }
    func dayRecords(
        of device: DeviceID, _ metric: Metric, _ days: ClosedRange<LocalDay>, limit: Int
    ) async throws(StoreError) -> [DayRecord] {
        let found = try readable(limit).days.filter { $0.summary.metric == metric && days.contains($0.summary.day) }
        return Array(found.prefix(limit))
    }

    func alerts(of device: DeviceID, before: Timestamp, limit: Int) async throws(StoreError) -> [AlertEvent] {
        let found = try readable(limit).alerts.filter { $0.measuredAt < before }.sorted {
            $0.measuredAt > $1.measuredAt
        }
        guard found.count > limit else { return found }
        return found.filter { $0.measuredAt >= found[limit - 1].measuredAt }
    }
    func gaps(of device: DeviceID, limit: Int) async throws(StoreError) -> [Gap] { [] }

    func perform(
        _ name: String, of device: DeviceID?, arguments: [UInt8],
        answer: @escaping @Sendable (_ payload: [UInt8], _ isFinal: Bool) -> Void
    ) async {
        let answers = state.withLock { state in
            let place = device.map { "\($0)/" } ?? ""
            state.commands.append((place + name, String(decoding: arguments, as: UTF8.self)))
            return state.answers
        }
        for (payload, isFinal) in answers { answer(Array(payload.utf8), isFinal) }
    }

    /// A band of anna, and a cuff that she and ben use.
    static func ofTwo() throws -> ShownData {
        let data = ShownData()
        let (band, cuff) = (try id("band-1"), try id("cuff"))
        data.set { state in
            state.devices = [
                ConfiguredDevice(id: band, name: "Band", driver: "simulator", person: "anna"),
                ConfiguredDevice(id: cuff, name: "Cuff", driver: "simulator", people: [1: "anna", 2: "ben"]),
            ]
        }
        return data
    }

    static func id(_ text: String) throws -> DeviceID {
        guard let id = DeviceID(text) else { throw Unexpected(text: text) }
        return id
    }

    /// A heart rate of the band, so many minutes after dawn.
    static func beat(_ minute: Int, _ value: Double = 60, user: Int? = nil) throws -> StoredSample {
        let start = dawn + .minutes(minute)
        let sample = Sample(metric: .heartRate, start: start, user: user, reading: .value(value))
        return StoredSample(sample: sample, of: try id("band-1"), revision: 1, receivedAt: start)
    }
}

/// The API over shown data, as a configuration has it.
struct ShownAPI {
    let api: API
    let page: any WebPage

    init(
        _ data: ShownData, tokens: [APITokens.Token] = [], isOpen: Bool = true, events: EventHub? = nil,
        clock: GatewayClock = .system
    ) throws {
        guard let calendar = LocalCalendar(identifier: "Europe/Berlin") else { throw Unexpected(text: "Europe/Berlin") }
        api = API(
            API.Sources(
                reader: data, commander: data, events: events ?? EventHub(since: ShownData.dawn),
                topics: ContractTopics(gateway: try ShownData.id("home")), calendar: calendar, clock: clock,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
        page = api.page(API.Access(APITokens(tokens), isOpen: isOpen))
    }

    /// Asks for a path below `/api/v1/`, which may have a query.
    func ask(
        _ path: String, method: String = "GET", _ headers: HTTPFields = [:], body: String = "",
        from address: String = "127.0.0.1"
    ) async -> WebAnswer {
        let parts = path.split(separator: "?", maxSplits: 1)
        return await page.answer(
            to: WebRequest(
                method: method, path: "/api/v1/\(parts.first ?? "")", query: parts.count == 2 ? String(parts[1]) : "",
                headers: headers, address: address, body: Array(body.utf8)))
    }

    /// Posts a command.
    func post(_ path: String, _ body: String, _ headers: HTTPFields = [:]) async -> WebAnswer {
        var headers = headers
        headers[.contentType] = "application/json"
        return await ask(path, method: "POST", headers, body: body)
    }
}

extension WebAnswer {
    var text: String { String(decoding: body, as: UTF8.self) }
    var json: JSONValue { (try? JSONValue(parsing: body)) ?? .null }
    /// The code of an error.
    var code: String? { json["error"]?["code"]?.asString }
    func header(_ name: String) -> String? { headers.last { $0.name == name }?.value }
}
