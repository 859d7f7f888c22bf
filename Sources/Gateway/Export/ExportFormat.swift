import Contract
import JSON
import Vitals

/// A form of exported samples. The raw value is its name on the command line.
package enum ExportFormat: String, CaseIterable, Sendable {
    /// A table with a header, by RFC 4180.
    case csv
    /// A sample of the contract on each line.
    case ndjson
    /// A Bundle of FHIR R4B (4.3).
    case fhir
    /// A data point of Open mHealth or IEEE 1752.1 on each line.
    case openMHealth = "open-mhealth"

    /// Whether each sample must have a person.
    package var needsPerson: Bool { self == .fhir }
}

/// A stored sample, and whose it is.
struct ExportedSample {
    var stored: StoredSample
    var device: DeviceID
    var person: String?

    var sample: Sample { stored.sample }
    var metric: Metric { stored.sample.metric }
}

/// What an export is about as a whole.
struct ExportScope {
    var household: Household
    /// The devices with samples, with what they said of themselves.
    var devices: [(id: DeviceID, identity: DeviceIdentity?)]
    /// The persons that were asked for; empty for all.
    var people: [String]
    var madeAt: Timestamp
}

/// Why a format has no place for a sample.
enum OmittedSample: String, CaseIterable {
    case noCode = "the format has no place for the metric"
    case withdrawn = "another record counts instead"
    case noInterval = "the format wants a beginning and an end, and there is one moment"
}

/// Writes samples in one form, each as soon as it comes.
protocol SampleWriter {
    /// Appends what stands before all samples.
    mutating func begin(_ output: inout [UInt8])
    /// Appends a sample, or says why it is left out.
    mutating func add(_ item: ExportedSample, to output: inout [UInt8]) -> OmittedSample?
    /// Appends what stands behind all samples.
    mutating func end(_ output: inout [UInt8])
}

extension SampleWriter {
    mutating func begin(_ output: inout [UInt8]) {}
    mutating func end(_ output: inout [UInt8]) {}
}

extension ExportFormat {
    func writer(for scope: ExportScope) -> any SampleWriter {
        switch self {
        case .csv: CSVWriter(calendar: scope.household.calendar)
        case .ndjson: LineWriter(scope)
        case .fhir: BundleWriter(scope)
        case .openMHealth: DataPointWriter()
        }
    }
}

/// A table with a header.
struct CSVWriter: SampleWriter {
    private var rows: SampleRows

    init(calendar: LocalCalendar) { rows = SampleRows(calendar: calendar) }

    mutating func begin(_ output: inout [UInt8]) { output += SampleRows.header.utf8 }

    mutating func add(_ item: ExportedSample, to output: inout [UInt8]) -> OmittedSample? {
        rows.append(item.stored, device: item.device, person: item.person, to: &output)
        return nil
    }
}

/// Each sample as the contract has it, with its device and metric, on a line.
struct LineWriter: SampleWriter {
    private var encoder: ContractEncoder
    private var json = JSONWriter()

    init(_ scope: ExportScope) {
        let topics = ContractTopics(base: "", gateway: scope.household.gateway)
        encoder = ContractEncoder(topics: topics, calendar: scope.household.calendar)
    }

    mutating func add(_ item: ExportedSample, to output: inout [UInt8]) -> OmittedSample? {
        json.removeAll()
        encoder.line(of: item.stored, device: item.device, person: item.person, to: &json)
        json.newline()
        output += json.bytes
        return nil
    }
}
