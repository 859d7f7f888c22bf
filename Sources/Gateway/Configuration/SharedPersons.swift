import Engines
import GatewayKit
import Vitals

/// `person`, `people`, or `persons` with `guests`: whose the samples of a device are.
struct SharedPersons {
    var wearers: Wearers
    /// How it is found out whose they are; `nil` without `persons`.
    var attribution: Attribution?

    /// The first number of a person without a slot: above those that devices have.
    private static let firstNumber = 10_000
    /// How many numbers there are.
    private static let numbers: Int64 = 1_000_000_000

    /// The number of a person without a slot. It depends on the name alone, so that the order of the list, and others in it, change nobody's
    /// samples.
    static func number(of name: String) -> Int {
        firstNumber + Int(SampleOrigin.number(of: name) % numbers)
    }
}

extension ConfigurationReader {
    /// Reads whose the samples of a device are.
    mutating func wearers() -> SharedPersons {
        let person = name("person", about: "The person who wears it.")
        let people = people("people")
        let about =
            "The persons who share it, where the gateway finds out whose a sample is; in place of person and people."
        var (slots, names) = ([Int: String](), Set<String>())
        let persons = sections("persons", limit: ConfigurationLimits.people, about: about) { reader in
            reader.sharedPerson(&slots, &names)
        }.compactMap(\.self)
        let guests: Attribution.Guests = choice(
            "guests", default: .ask, about: "What becomes of a value that fits nobody of persons: asked, or kept apart."
        )
        guard value("persons") != nil, !isDescribing else {
            if !isDescribing, value("guests") != nil { report("guests needs persons.", at: "guests") }
            return SharedPersons(wearers: Wearers(person: person, people: people))
        }
        for key in ["person", "people"] where value(key) != nil {
            report("persons has all who use the device: remove \(key), or persons.", at: key)
        }
        if persons.isEmpty, issues.isEmpty { report("A person is needed here, such as [{name: anna}].", at: "persons") }
        return SharedPersons(
            wearers: Wearers(people: slots), attribution: Attribution(persons, guests: guests))
    }

    /// Reads an entry of `persons`.
    private mutating func sharedPerson(
        _ slots: inout [Int: String], _ names: inout Set<String>
    ) -> Attribution.Person? {
        let name = name("name", default: KeyDescription.required, about: "The person.")
        let slot = optionalInteger(
            "slot", in: SampleLimits.users, about: "The person's slot, as the device numbers it.")
        var expected: [Metric: Double] = [:]
        for metric in Metric.allCases where metric.shape == .value && metric.distinction != nil {
            expected[metric] = expectedValue(of: metric)
        }
        guard let name else {
            if !isDescribing { report("name is missing; a person is needed here.") }
            return nil
        }
        if !names.insert(name).inserted { report("\(name) is there twice; remove one.", at: "name") }
        let user = slot ?? SharedPersons.number(of: name)
        if let other = slots[user] {
            report("\(other) has the same slot; each has one of their own.", at: slot == nil ? "name" : "slot")
        }
        slots[user] = name
        return Attribution.Person(user: user, expected: expected)
    }

    /// A usual value, as a number with or without its unit.
    private mutating func expectedValue(of metric: Metric) -> Double? {
        let key = metric.rawValue
        let unit = metric.unit ?? ""
        let text = optionalString(key)
        describe(
            key, "number\(unit.isEmpty ? "" : ", with or without \(unit)")", about: "The usual value to begin with.")
        guard let text else { return nil }
        let number = text.hasSuffix(unit) ? String(text.dropLast(unit.count)) : text
        guard let value = Double(number.filter { $0 != " " }), metric.range?.contains(value) ?? true else {
            report(
                "A value is needed here, such as \(metric.range.map { "\(Int($0.lowerBound) + 62)" } ?? "62")\(unit).",
                at: key)
            return nil
        }
        return value
    }
}
