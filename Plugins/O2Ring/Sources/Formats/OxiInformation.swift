import GatewayKit
import JSON
import Vitals

/// A ring's information about itself: a JSON object whose values are texts.
struct OxiInformation: Sendable, Hashable {
    private let members: [String: String]

    /// A ring with more files is no ring. Further ones are not read, and counted.
    static let mostFiles = 1000

    init(_ bytes: [UInt8]) throws(FormatError) {
        // Some rings end it with zeros.
        let text = bytes.prefix { $0 != 0 }
        let value: JSONValue
        do { value = try JSONValue(parsing: Array(text)) } catch { throw FormatError("its description is no JSON") }
        guard let object = value.asObject else { throw FormatError("its description is no object") }
        members = Dictionary(
            object.compactMap { member in
                (member.value.asString ?? member.value.asInt.map { "\($0)" }).map { (member.key, $0) }
            }, uniquingKeysWith: { $1 })
    }

    subscript(key: String) -> String? {
        guard let text = members[key], !text.isEmpty,
            text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else { return nil }
        return text
    }

    func number(_ key: String) -> Int? { self[key].flatMap { Int($0) } }

    /// The charge in per cent, such as `85%`.
    var charge: Int? {
        self["CurBAT"].flatMap { Int($0.filter { $0 != "%" }) }.flatMap { (0...100).contains($0) ? $0 : nil }
    }

    /// 1 while it charges, 2 when it is full.
    var isCharging: Bool? { number("CurBatState").map { $0 == 1 || $0 == 2 } }

    /// The names of its recordings.
    var files: [String] { Array(list.prefix(Self.mostFiles)) }
    /// How many more there are.
    var skippedFiles: Int { max(0, list.count - Self.mostFiles) }

    private var list: [String] {
        (self["FileList"] ?? "").filter { $0 != "[" && $0 != "]" }.split(separator: ",").map(String.init)
    }

    /// What its clock shows, such as `2026-09-28,22:30:00`.
    var time: LocalTime? { self["CurTIME"].flatMap { LocalTime(digits: $0.filter(\.isNumber)) } }
}
