import JSON

/// The numbers of SUMMARY_DATA: `{"averageHR": {"value": 131, "unit": "bpm"}, …}`. A value may be a text.
struct WorkoutSummary {
    private let members: [String: Double]

    /// `nil` if it is no such text.
    init?(_ bytes: [UInt8]) {
        guard let value = try? JSONValue(parsing: bytes), case .object(let found) = value else { return nil }
        var members: [String: Double] = [:]
        for member in found {
            guard case .object(let parts) = member.value, let value = parts.first(where: { $0.key == "value" })?.value
            else { continue }
            switch value {
            case .number(let number): members[member.key] = number
            case .string(let text): members[member.key] = Double(text)
            default: break
            }
        }
        self.members = members
    }

    /// A finite number; `nil` if there is none.
    func number(_ key: String) -> Double? { members[key].flatMap { $0.isFinite ? $0 : nil } }
}
