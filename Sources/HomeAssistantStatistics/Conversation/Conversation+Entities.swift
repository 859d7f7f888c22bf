import JSON

/// An entity in Home Assistant's registry.
package struct RegisteredEntity: Sendable, Hashable {
    /// Its present id: the new one of a renamed entity.
    package var id: String
    package var isDisabled: Bool
}

/// How Home Assistant keeps the statistics of an entity.
package struct StatisticMetadata: Sendable, Hashable {
    /// The unit of what is stored, which is not always the one that is shown.
    package var unit: String?
    /// The name of the unit's converter; `nil` for none.
    package var unitClass: String?
}

extension Conversation {
    /// The entities of MQTT whose `unique_id` begins with `prefix`, by their `unique_id`.
    package func entities(beginningWith prefix: String) async throws -> [String: RegisteredEntity] {
        let answer = try await ask("config/entity_registry/list")
        var entities: [String: RegisteredEntity] = [:]
        do throws(JSONError) {
            var reader = answer.reader
            try reader.beginArray()
            while try reader.nextElement() {
                var (id, unique, platform, isDisabled) = ("", "", "", false)
                try reader.beginObject()
                while let key = try reader.nextKey() {
                    switch key {
                    case "entity_id": id = try reader.string()
                    case "platform": platform = try reader.string()
                    // Other integrations have numbers here.
                    case "unique_id" where try reader.peek() == .string: unique = try reader.string()
                    case "disabled_by": isDisabled = try reader.optionalString() != nil
                    default: try reader.skip()
                    }
                }
                if platform == "mqtt", unique.hasPrefix(prefix) {
                    entities[unique] = RegisteredEntity(id: id, isDisabled: isDisabled)
                }
            }
        } catch {
            throw HomeAssistantError.unexpected("the entity registry: \(error)")
        }
        return entities
    }

    /// The `unique_id` of an entity; `nil` if there is none of this name.
    package func uniqueID(of entity: String) async throws -> String? {
        do {
            return try await ask("config/entity_registry/get", [JSONValue.Member("entity_id", .string(entity))])
                .value["unique_id"]?.asString
        } catch HomeAssistantError.refused(_, "not_found", _) {
            return nil
        }
    }

    /// How the statistics of entities are kept, or would be: of those that have had a state.
    package func metadata(of entities: [String]) async throws -> [String: StatisticMetadata] {
        guard !entities.isEmpty else { return [:] }
        let answer = try await ask(
            "recorder/get_statistics_metadata",
            [JSONValue.Member("statistic_ids", .array(entities.map { .string($0) }))]
        ).value
        var result: [String: StatisticMetadata] = [:]
        for item in answer.asArray ?? [] {
            guard let id = item["statistic_id"]?.asString else { continue }
            result[id] = StatisticMetadata(
                unit: item["statistics_unit_of_measurement"]?.asString, unitClass: item["unit_class"]?.asString)
        }
        return result
    }
}
