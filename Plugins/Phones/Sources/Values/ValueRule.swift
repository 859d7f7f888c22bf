import GatewayKit
import Vitals

/// What is read of the messages of a topic.
struct ValueTopic: Sendable, Hashable {
    /// Stands in a topic for the part that names the device.
    static let placeholder = "{device}"
    /// The most topics of a device: each of its values may have one.
    static let maximumTopics = 32
    /// The most values of a topic: more than any device publishes of a person.
    static let maximumValues = 32

    /// The topic as it is written, for the log.
    let text: String
    /// What is subscribed to, and what of it is the device's.
    let topic: MessageTopic
    /// The level that names the device; `nil` if none does.
    let capture: MessageTemplate.Capture?
    let values: [ValueRule]

    /// Reads an entry of `topics`.
    /// - Parameters:
    ///   - device: what stands for the placeholder.
    ///   - isTemplate: whether each part that stands there gets a device.
    init?(_ reader: inout ConfigurationReader, device: String?, isTemplate: Bool = false) {
        text = reader.string(
            "topic", about: "Where others publish; + stands for one level, # for the rest, {device} for `device`.")
        values = reader.sections("values", limit: Self.maximumValues, about: "What is read of its messages.") {
            ValueRule(&$0)
        }.compactMap(\.self)
        let levels = text.split(separator: "/", omittingEmptySubsequences: false)
        let places = levels.indices.filter { levels[$0] == Self.placeholder }
        let isNamed = !places.isEmpty
        func filter(_ replacement: String) -> TopicFilter {
            TopicFilter(
                levels.map { $0 == Self.placeholder ? replacement : String($0) }.joined(separator: "/"))
        }
        topic = MessageTopic(subscription: filter("+"), own: filter(device ?? "+"))
        capture = places.first.map { MessageTemplate.Capture(filter("+"), level: $0) }
        if reader.isDescribing { return nil }
        if isTemplate {
            if places.count != 1 {
                reader.report("With each_device one level of the topic must be \(Self.placeholder).", at: "topic")
            }
        } else if isNamed, device == nil {
            reader.report(
                "The option device is missing; it says which \(Self.placeholder) this is. For a device for each of them write "
                    + "each_device: true.", at: "topic")
        }
        if !isNamed, text.contains(Self.placeholder) {
            reader.report("\(Self.placeholder) must be a whole level of the topic.", at: "topic")
        }
        if values.isEmpty, reader.issues.isEmpty {
            reader.report("What is to be read of the topic is missing; add values: [{metric: …}].")
        }
    }
}

/// A value of a message.
struct ValueRule: Sendable, Hashable {
    /// The most texts of a condition.
    static let maximumTexts = 20

    /// Where its numbers are; no path for a message that is a number.
    enum Place: Sendable, Hashable {
        case value(ValuePath?)
        case pressure(systolic: ValuePath, diastolic: ValuePath, pulse: ValuePath?)
    }
    /// In what unit they are.
    enum Unit: Sendable, Hashable {
        case known(ValueUnit)
        /// The message says it here.
        case written(ValuePath)
    }
    /// What the message must have for the value to count.
    struct Condition: Sendable, Hashable {
        var path: ValuePath
        var texts: [String]
    }

    let metric: Metric
    let place: Place
    let unit: Unit
    /// Where the time of measurement is; it is the arrival without one.
    let time: ValuePath?
    let conditions: [Condition]

    /// The metrics that a message can have: those without an interval.
    static let metrics = Metric.allCases.filter { $0.shape == .value || $0.shape == .pressure }

    init(metric: Metric, place: Place, unit: Unit, time: ValuePath? = nil, conditions: [Condition] = []) {
        self.metric = metric
        self.place = place
        self.unit = unit
        self.time = time
        self.conditions = conditions
    }

    /// Reads an entry of `values`.
    init?(_ reader: inout ConfigurationReader) {
        let names = Self.metrics.map(\.rawValue).joined(separator: ", ")
        let name = reader.string("metric")
        reader.describe(
            "metric", "one of \(names)", default: KeyDescription.required, about: "What is measured.")
        let path = reader.path(
            at: "path", about: "Where the number is in JSON, such as `a.b[0]`; without it the message is a number.")
        let systolic = reader.path(at: "systolic", about: "Where a blood pressure has the higher number.")
        let diastolic = reader.path(at: "diastolic", about: "Where it has the lower one.")
        let pulse = reader.path(at: "pulse", about: "Where it has the pulse.")
        let unit = reader.optionalString("unit")
        reader.describe("unit", "unit", default: "that of the metric", about: "In which the number is.")
        let unitPath = reader.path(at: "unit_path", about: "Where the message says the unit.")
        time = reader.path(
            at: "time", about: "Where the time of measurement is: RFC 3339, or Unix time in s or ms; else the arrival.")
        conditions = reader.section("when") { section in
            section.keys.compactMap { key -> Condition? in
                let texts = section.oneOrMoreStrings(key, limit: Self.maximumTexts) ?? []
                guard let path = ValuePath(key) else {
                    section.report("This is no path, such as a.b[0].", at: key)
                    return nil
                }
                return Condition(path: path, texts: texts)
            }
        }
        reader.describe(
            "when", "texts by path",
            about: "Texts, numbers or switches that the message must have, each one or a list.")
        guard let metric = Self.metrics.first(where: { $0.rawValue == name }) else {
            if !name.isEmpty { reader.report("There is no value \(name) to read. There is \(names).", at: "metric") }
            return nil
        }
        self.metric = metric
        if metric.shape == .pressure {
            guard let systolic, let diastolic, path == nil else {
                reader.report("A blood pressure needs systolic and diastolic in place of path.")
                return nil
            }
            place = .pressure(systolic: systolic, diastolic: diastolic, pulse: pulse)
        } else {
            if systolic != nil || diastolic != nil || pulse != nil {
                reader.report("Only a blood pressure has systolic, diastolic and pulse; write path.")
            }
            place = .value(path)
        }
        if let unitPath {
            if unit != nil { reader.report("Either unit or unit_path is needed here.", at: "unit") }
            self.unit = .written(unitPath)
        } else if let known = ValueUnit(unit ?? metric.unit ?? "", of: metric) {
            self.unit = .known(known)
        } else {
            let names = metric.unit == nil ? ["none"] : ValueUnit.names(in: metric.unit)
            reader.report(
                "\(unit ?? "") is no unit of \(metric.rawValue). Units: \(names.joined(separator: ", ")).", at: "unit")
            return nil
        }
    }
}

extension ConfigurationReader {
    /// A path in JSON; `nil` if the key is absent.
    fileprivate mutating func path(at key: String, about: String) -> ValuePath? {
        let text = optionalString(key)
        describe(key, "path", about: about)
        guard let text else { return nil }
        guard let path = ValuePath(text) else {
            report("This is no path, such as a.b[0].", at: key)
            return nil
        }
        return path
    }
}
