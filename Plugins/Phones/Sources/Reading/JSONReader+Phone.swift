import JSON

extension JSONReader {
    /// Reads a number, also one that is written as a text. Any other value is skipped and gives `nil`.
    mutating func looseNumber() throws(JSONError) -> Double? {
        switch try peek() {
        case .number:
            do { return try double() } catch {
                // The number is read, but is beyond all numbers.
                guard error.reason == .numberOutOfRange else { throw error }
                return nil
            }
        case .string:
            let text = try string()
            guard text.utf8.count <= 40, let value = Double(text), value.isFinite else { return nil }
            return value
        default:
            try skip()
            return nil
        }
    }

    /// Reads a text. Any other value is skipped and gives `nil`.
    mutating func looseText() throws(JSONError) -> String? {
        guard try peek() == .string else {
            try skip()
            return nil
        }
        return try string()
    }

    /// Whether an object comes next. Any other value is skipped.
    mutating func isAtObject() throws(JSONError) -> Bool {
        if try peek() == .object { return true }
        try skip()
        return false
    }

    /// Enters an object. Any other value is skipped.
    mutating func looseObject() throws(JSONError) -> Bool {
        guard try isAtObject() else { return false }
        try beginObject()
        return true
    }

    /// Enters an array. Any other value is skipped.
    mutating func looseArray() throws(JSONError) -> Bool {
        guard try peek() == .array else {
            try skip()
            return false
        }
        try beginArray()
        return true
    }
}

extension String {
    /// A name of the sender's for an answer: its beginning, on one line.
    var quoted: String {
        let text = String(unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) })
        guard text.utf8.count > PhoneLimits.name else { return text }
        // A scalar has up to four bytes; a character may have any number.
        return String(String.UnicodeScalarView(text.unicodeScalars.prefix(PhoneLimits.name / 4))) + "…"
    }
}
