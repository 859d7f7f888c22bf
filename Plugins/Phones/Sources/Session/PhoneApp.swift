package import GatewayKit
import JSON
package import Vitals

/// An app of phones, by its documents.
package protocol PhoneApp: Sendable {
    /// The driver's name in the configuration.
    static var driver: String { get }
    /// The app's name, as the model of the device.
    static var name: String { get }
    /// What its documents can have.
    static var metrics: [Metric] { get }
    /// Whether its documents can have what the phone or its watch warned of.
    static var hasWarnings: Bool { get }
    /// Whether the phone's own export is read, too (option `export`).
    static var hasExports: Bool { get }
    /// Which of its records counts where two describe the same thing.
    static var overlaps: OverlapRule { get }
    /// The option that picks the source of its counts.
    static var sourceOption: String { get }
    /// The records of a document, in its order.
    /// - Parameters:
    ///   - source: the source whose counts are taken; `nil` for those of all.
    ///   - order: which of several sources counts an interval.
    /// - Throws: `DocumentProblem` if it is no document of the app; nothing of it is read then.
    static func records(
        of document: [UInt8], calendar: LocalCalendar, source: String?, order: SourceOrder
    ) throws(DocumentProblem) -> any RecordStream
}

extension PhoneApp {
    package static var hasWarnings: Bool { false }
    package static var hasExports: Bool { false }

    /// The records of a document, with sources in the order of what they are.
    package static func records(
        of document: [UInt8], calendar: LocalCalendar, source: String?
    ) throws(DocumentProblem) -> any RecordStream {
        try records(of: document, calendar: calendar, source: source, order: SourceOrder())
    }
}

/// The records of a document, one after the other, so that the samples of a long one need not be in memory at once.
package protocol RecordStream {
    /// Where the counts that were read so far come from.
    var sources: CountSources { get }
    /// Whether the app only tries the way to the gateway, with invented values.
    var isTest: Bool { get }
    /// Where the last record stands in the document, such as `samples[3]`; `nil` for an app whose answers say nothing of single records.
    var path: String? { get }
    /// The next record; `nil` at the end.
    mutating func next() throws(DocumentProblem) -> Record?
}

extension RecordStream {
    package var path: String? { nil }
}

/// A record of a document.
package enum Record: Sendable, Hashable {
    case sample(Sample)
    /// The source has counted nothing in this interval. It corrects what the source has said of it before, and is else skipped for this
    /// reason; `nil` where that goes without saying.
    case nothing(Sample, reason: String?)
    /// What the phone or its watch warned of (`AlertRule.warning`), or an alert that the sender raised or cleared by its own limits.
    case alert(DeviceAlert)
    /// The level of the phone's battery in per cent, and whether it is charging; `nil` if the phone does not say.
    case battery(percent: Double, isCharging: Bool?)
    /// It is not what the format allows, for this reason: its wrong member, or the record itself where that is empty.
    case refused(member: String, reason: String)
    /// It is no sample of the gateway's, for this reason.
    case skipped(String)

    /// An entry of a list that is no object.
    static func noObject(in list: String) -> Record { .skipped("an entry of \(list) that is no object") }

    /// How the reason begins where a record is left out since it should be, whatever the settings are.
    static let onPurpose = "left out on purpose: "

    /// A record that is left out on purpose.
    static func leftOut(_ what: String) -> Record { .skipped(onPurpose + what) }

    /// A sample of a count, or that nothing was counted.
    /// - Parameter isPart: whether it is a part of a record that may go without saying.
    static func counted(_ sample: Sample, isPart: Bool = false) -> Record {
        guard sample.countsNothing else { return .sample(sample) }
        var sample = sample
        sample.claim = .correction
        return .nothing(sample, reason: isPart ? nil : "an interval without \(sample.metric.rawValue)")
    }

    /// The same record of a source, which has changed it then, or else reported it then.
    func from(_ origin: SampleOrigin?, changedAt: Timestamp? = nil, reportedAt: Timestamp? = nil) -> Record {
        func attributed(_ sample: Sample) -> Sample {
            var sample = sample
            sample.origin = origin
            sample.changedAt = changedAt
            sample.reportedAt = changedAt == nil ? reportedAt : nil
            return sample
        }
        return switch self {
        case .sample(let sample): .sample(attributed(sample))
        case .nothing(let sample, let reason): .nothing(attributed(sample), reason: reason)
        default: self
        }
    }
}

/// Why a document cannot be read: a sentence for a person.
package struct DocumentProblem: Error, Sendable, Hashable {
    package var message: String

    /// A document with this problem.
    init(_ message: String) { self.message = message }

    static let tooManyLists = DocumentProblem("The document has more than \(PhoneLimits.sections) lists of records.")

    /// A document with another value than a list of records under a known name. All of it is refused: after a success its sender
    /// would not send the records again.
    static func noList(_ name: String) -> DocumentProblem {
        DocumentProblem("The document cannot be read: \(name) must be a list.")
    }

    /// A document of another app.
    static func foreign(_ app: any PhoneApp.Type) -> DocumentProblem {
        DocumentProblem(
            "This is a document of \(app.name): set driver: \(app.driver), or send it to a device that has this driver."
        )
    }

    /// A document that is not JSON, or not of the expected shape.
    init(_ error: JSONError) { self.init("The document cannot be read: \(error)") }
}
