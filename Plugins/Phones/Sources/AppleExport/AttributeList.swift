import Glibc

/// The attributes of an element, which are valid while it begins.
struct AttributeList {
    let list: UnsafeMutablePointer<UnsafePointer<CChar>?>?

    /// Calls `body` with each name that is known, and its value.
    func forEach(_ body: (_ name: AttributeName, _ value: UnsafePointer<CChar>) -> Void) {
        guard var place = list else { return }
        while let name = place[0], let value = place[1] {
            if let name = AttributeName(name) { body(name, value) }
            place += 2
        }
    }
}

/// The attributes that are read, of all elements.
enum AttributeName {
    case type, workoutActivityType, sourceName, unit, value, startDate, endDate, key
    case sum, average, minimum, maximum
    case totalEnergyBurned, totalEnergyBurnedUnit, totalDistance, totalDistanceUnit

    /// The attribute of a name; `nil` for one that is not read. No text is made of it: an export has tens of millions.
    init?(_ text: UnsafePointer<CChar>) {
        func names(_ name: StaticString) -> Bool { strcmp(text, UnsafeRawPointer(name.utf8Start)) == 0 }
        switch UInt8(bitPattern: text[0]) {
        case UInt8(ascii: "s"):
            if names("sourceName") {
                self = .sourceName
            } else if names("startDate") {
                self = .startDate
            } else if names("sum") {
                self = .sum
            } else {
                return nil
            }
        case UInt8(ascii: "e"):
            guard names("endDate") else { return nil }
            self = .endDate
        case UInt8(ascii: "v"):
            guard names("value") else { return nil }
            self = .value
        case UInt8(ascii: "u"):
            guard names("unit") else { return nil }
            self = .unit
        case UInt8(ascii: "t"):
            if names("type") {
                self = .type
            } else if names("totalEnergyBurned") {
                self = .totalEnergyBurned
            } else if names("totalEnergyBurnedUnit") {
                self = .totalEnergyBurnedUnit
            } else if names("totalDistance") {
                self = .totalDistance
            } else if names("totalDistanceUnit") {
                self = .totalDistanceUnit
            } else {
                return nil
            }
        case UInt8(ascii: "k"):
            guard names("key") else { return nil }
            self = .key
        case UInt8(ascii: "w"):
            guard names("workoutActivityType") else { return nil }
            self = .workoutActivityType
        case UInt8(ascii: "a"):
            guard names("average") else { return nil }
            self = .average
        case UInt8(ascii: "m"):
            if names("minimum") { self = .minimum } else if names("maximum") { self = .maximum } else { return nil }
        default: return nil
        }
    }
}

/// Texts that come again and again, such as types and sources, so that each is made once.
struct RepeatedTexts {
    /// The most texts that are kept in mind: a few sources alternate.
    static let maximum = 8

    private var known: [(bytes: [CChar], text: String)] = []
    private var last = 0

    /// The text of these bytes.
    /// - Parameter make: what to make of it the first time.
    mutating func text(_ bytes: UnsafePointer<CChar>, _ make: (String) -> String = { $0 }) -> String {
        if last < known.count, strcmp(known[last].bytes, bytes) == 0 { return known[last].text }
        if let place = known.indices.first(where: { strcmp(known[$0].bytes, bytes) == 0 }) {
            last = place
            return known[place].text
        }
        let made = make(String(cString: bytes))
        last = known.count < Self.maximum ? known.count : (last + 1) % Self.maximum
        let entry = (bytes: Array(UnsafeBufferPointer(start: bytes, count: strlen(bytes) + 1)), text: made)
        if last == known.count { known.append(entry) } else { known[last] = entry }
        return made
    }
}
