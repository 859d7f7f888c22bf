import Contract
import HomeAssistant
import JSON
import MQTT
import Testing
import Vitals

/// The discovery messages of the gateway, the band and the cuff, parsed for tests.
struct Announced {
    var root: JSONValue
    var components: [(key: String, value: JSONValue)]
    /// The platforms of removed entities, by key.
    var removed: [String: String]

    /// The documents of the mode `device`.
    static func all(_ compatibility: HomeAssistantVersion = .deviceDiscovery) throws -> [Announced] {
        try Devices.discovery(compatibility: compatibility)
            .messages(devices: [Devices.band, Devices.cuff, Devices.unknown]).map { message in
                let root = try JSONValue(parsing: message.payload)
                let components = try #require(root["components"]?.asObject)
                let removed = components.filter { $0.value.asObject?.count == 1 }
                return Announced(
                    root: root,
                    components: components.filter { $0.value.asObject?.count != 1 }.map {
                        // A time entity has another key than the text entity that it replaces.
                        ($0.value["platform"] == "time" ? String($0.key.dropLast("_time".count)) : $0.key, $0.value)
                    },
                    removed: Dictionary(
                        uniqueKeysWithValues: removed.map { ($0.key, $0.value["platform"]?.asString ?? "") }))
            }
    }

    static func components(
        _ compatibility: HomeAssistantVersion = .deviceDiscovery
    ) throws -> [(key: String, value: JSONValue)] {
        try all(compatibility).flatMap(\.components)
    }

    /// The `unique_id` in a message of one entity.
    static func uniqueID(of payload: [UInt8]) throws -> String {
        try #require(try JSONValue(parsing: payload)["unique_id"]?.asString)
    }

    /// The encoder's payloads, by topic.
    static func payloads() throws -> [String: JSONValue] {
        var encoder = ContractEncoder(topics: Devices.topics, calendar: Devices.calendar)
        let now = Timestamp(seconds: 1_780_000_000)
        var messages = [
            encoder.gatewayState(
                GatewayState(
                    broker: nil, outbox: [:], oldestUnsentAt: nil, dropped: [:], storeBytes: 1, lastError: nil, at: now)
            )
        ]
        for info in [Devices.band.info, Devices.cuff.info] {
            messages += [encoder.info(info), encoder.sync(SyncState(), of: info.id)]
            messages.append(encoder.wear(WearState(at: now), of: info.id))
            messages.append(encoder.measure(MeasureState(), of: info.id))
            messages.append(encoder.link(LinkState(phase: .connected, since: now), of: info.id))
            messages.append(encoder.config(TwinState(updatedAt: now), of: info.id))
            let warning = AlertEvent(
                id: SampleID(high: 1, low: 1), rule: AlertRule(.irregularRhythm), edge: .raised, value: nil, limit: nil,
                origin: .device, measuredAt: now, raisedAt: now, sampleID: nil)
            messages.append(
                encoder.fact(
                    Fact(sequence: 1, lane: .alert, device: info.id, content: .alert(warning, isLate: false)),
                    info: info,
                    publishedAt: now, isReplay: false))
            for rule in AlertRule.all {
                let level = AlertLevel(rule: rule, isActive: false, since: now)
                messages.append(encoder.level(level, of: info.id, person: info.person))
            }
            for metric in Metric.allCases {
                let sample = Sample(metric: metric, start: now, reading: Self.reading(of: metric))
                let stored = StoredSample(
                    sample: sample, of: info.id, revision: 1, receivedAt: now)
                let state = LatestState(stored: stored, freshUntil: nil, isStale: false)
                messages.append(encoder.latest(state, of: info.id, person: info.person, now: now))
                let summary = DailySummary(metric: metric, day: LocalDay(number: 20_000), samples: [stored])
                let record = DayRecord(summary: summary, revision: 1, updatedAt: now, isFinal: false)
                messages.append(encoder.today(record, of: info.id))
            }
        }
        return try Dictionary(
            uniqueKeysWithValues: messages.map { ($0.topic, try JSONValue(parsing: $0.payload)) })
    }

    private static func reading(of metric: Metric) -> Reading {
        switch metric.shape {
        case .pressure: .bloodPressure(BloodPressure(systolic: 120, diastolic: 80))
        case .count: .count(Increment(count: 1))
        case .sleep: .sleep(Sleep(stages: []))
        case .session: .sport(Sport(activity: "running"))
        case .value: .value(40)
        }
    }
}
