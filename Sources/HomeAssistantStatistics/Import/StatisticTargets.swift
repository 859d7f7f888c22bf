import HomeAssistant
import Vitals

/// The gateway's sensors as Home Assistant has them: read once for each conversation.
struct StatisticTargets {
    /// Where the statistics of a sensor belong.
    enum Place {
        case here(unique: String, target: StatisticTarget, conversion: UnitConversion)
        /// A disabled entity gets no statistics.
        case off
        /// There is none, and why. `isStarting` says that it may be so only because Home Assistant has just begun.
        case missing(String, isStarting: Bool)
    }
    private let entities: [String: RegisteredEntity]
    private let metadata: [String: StatisticMetadata]

    init(_ conversation: Conversation, _ discovery: Discovery) async throws {
        entities = try await conversation.entities(beginningWith: discovery.uniqueIDPrefix)
        metadata = try await conversation.metadata(of: entities.values.map(\.id).sorted())
    }

    func place(of sensor: StatisticSensor, unique: String) -> Place {
        guard let entity = entities[unique] else { return .missing("There is no entity \(unique)", isStarting: true) }
        if entity.isDisabled { return .off }
        guard let metadata = metadata[entity.id] else {
            return .missing("\(entity.id) has no statistics: it has had no state yet", isStarting: true)
        }
        guard let conversion = UnitConversion(from: sensor.unit, to: metadata.unit) else {
            return .missing("\(entity.id) has the unit \(metadata.unit ?? "none")", isStarting: false)
        }
        return .here(
            unique: unique, target: StatisticTarget(entity: entity.id, metadata: metadata), conversion: conversion)
    }
}
