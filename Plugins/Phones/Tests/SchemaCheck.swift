import Foundation
import JSON

/// The part of JSON Schema (2020-12) that the shipped schema uses. The campaign `documents` compares its verdicts with those of an
/// implementation of others.
struct SchemaCheck {
    /// The shipped schema.
    let schema: JSONValue
    private var patterns: [String: Regex<AnyRegexOutput>] = [:]
    /// The rules of the schema that this check does not know.
    private(set) var unknown: Set<String> = []
    private static let notes: Set = ["$schema", "title", "description", "$defs", "then", "else"]

    init() throws {
        let file = Phone.folder.appending(path: "../documents.schema.json")
        schema = try JSONValue(parsing: [UInt8](try Data(contentsOf: file)))
        try prepare(schema)
    }

    /// Whether the schema allows a document.
    func accepts(_ document: JSONValue) -> Bool { accepts(document, schema) }

    /// A named part of the schema.
    func part(_ name: String) -> JSONValue { schema["$defs"]?[name] ?? .null }

    private mutating func prepare(_ schema: JSONValue) throws {
        let known: Set = [
            "$ref", "type", "enum", "anyOf", "oneOf", "allOf", "if", "required", "properties", "additionalProperties",
            "items", "minItems", "maxItems", "minProperties", "minLength", "maxLength", "pattern", "minimum",
            "multipleOf",
        ]
        for member in schema.asObject ?? [] where !Self.notes.contains(member.key) {
            if !known.contains(member.key) { unknown.insert(member.key) }
        }
        if let pattern = schema["pattern"]?.asString {
            patterns[pattern] = try Regex(pattern).matchingSemantics(.unicodeScalar)
        }
        let parts = ["items", "if", "then", "else"].compactMap { schema[$0] }
        let lists = ["anyOf", "oneOf", "allOf"].flatMap { schema[$0]?.asArray ?? [] }
        let members = ["properties", "$defs"].flatMap { schema[$0]?.asObject?.map(\.value) ?? [] }
        for part in parts + lists + members { try prepare(part) }
    }

    private func accepts(_ value: JSONValue, _ schema: JSONValue) -> Bool {
        if let all = schema.asBool { return all }
        return (schema.asObject ?? []).allSatisfy { holds($0.key, $0.value, value, schema) }
    }

    private func holds(_ word: String, _ rule: JSONValue, _ value: JSONValue, _ schema: JSONValue) -> Bool {
        switch word {
        case "$ref": return accepts(value, part(String((rule.asString ?? "").dropFirst("#/$defs/".count))))
        case "type": return Self.type(of: value) == rule.asString
        case "enum": return rule.asArray?.contains(value) == true
        case "anyOf": return rule.asArray?.contains { accepts(value, $0) } == true
        case "oneOf": return rule.asArray?.count(where: { accepts(value, $0) }) == 1
        case "allOf": return rule.asArray?.allSatisfy { accepts(value, $0) } == true
        case "if":
            let branch = accepts(value, rule) ? schema["then"] : schema["else"]
            return branch.map { accepts(value, $0) } ?? true
        default: return holdsWithin(word, rule, value, schema)
        }
    }

    /// The rules for what is in a value, which say nothing of a value of another type.
    private func holdsWithin(_ word: String, _ rule: JSONValue, _ value: JSONValue, _ schema: JSONValue) -> Bool {
        if let members = value.asObject {
            let names = Set(members.map(\.key))
            switch word {
            case "required": return (rule.asArray ?? []).allSatisfy { names.contains($0.asString ?? "") }
            case "properties":
                return members.allSatisfy { member in rule[member.key].map { accepts(member.value, $0) } ?? true }
            case "minProperties": return names.count >= rule.asInt ?? 0
            case "additionalProperties": return names.isSubset(of: (schema["properties"]?.asObject ?? []).map(\.key))
            default: return true
            }
        }
        if let elements = value.asArray {
            switch word {
            case "items": return elements.allSatisfy { accepts($0, rule) }
            case "minItems": return elements.count >= rule.asInt ?? 0
            case "maxItems": return elements.count <= rule.asInt ?? 0
            default: return true
            }
        }
        if let number = value.asDouble {
            switch word {
            case "minimum": return number >= rule.asDouble ?? 0
            case "multipleOf": return number.truncatingRemainder(dividingBy: rule.asDouble ?? 1) == 0
            default: return true
            }
        }
        guard let text = value.asString else { return true }
        switch word {
        case "minLength": return text.unicodeScalars.count >= rule.asInt ?? 0
        case "maxLength": return text.unicodeScalars.count <= rule.asInt ?? 0
        case "pattern":
            guard let pattern = patterns[rule.asString ?? ""] else { return false }
            return text.wholeMatch(of: pattern) != nil
        default: return true
        }
    }

    private static func type(of value: JSONValue) -> String {
        switch value {
        case .null: "null"
        case .bool: "boolean"
        case .number: "number"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }
}
