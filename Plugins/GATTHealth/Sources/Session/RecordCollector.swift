import GatewayKit
import Vitals

/// Gathers the records of one transfer from a device's memory.
protocol RecordCollector: Sendable {
    /// Begins a transfer, and returns the request for it.
    /// - Parameter all: whether all records are wanted, also those that were read before.
    mutating func begin(all: Bool) -> RecordAccess.Request
    /// Takes a value of the device that belongs to the transfer.
    mutating func collect(_ value: GATTValue)
    /// How many values of the transfer had no room.
    var skipped: Int { get }
    /// Ends the transfer: the device has sent everything. Returns the records, and whether these are all that it has.
    mutating func endTransfer() -> (records: [StoredRecord], isWhole: Bool)
}

/// The records of a glucose meter, by their sequence numbers: only those after the last one are read again.
struct GlucoseRecords: RecordCollector {
    private let profile: GlucoseProfile
    /// The number of the last record that was read.
    private var last: Int?
    private var measurements: [Int: GlucoseMeasurement] = [:]
    private var contexts: [Int: GlucoseContext] = [:]
    private var refused: [StoredRecord] = []
    private var newest: Int?
    private var isWhole = true
    private(set) var skipped = 0

    init(_ profile: GlucoseProfile) { self.profile = profile }

    mutating func begin(all: Bool) -> RecordAccess.Request {
        (measurements, contexts, refused, newest, skipped) = ([:], [:], [], nil, 0)
        // After the greatest number the meter begins anew.
        guard !all, let last, last < 0xffff else {
            isWhole = true
            return .reportAll
        }
        isWhole = false
        return .report(fromSequence: last + 1)
    }

    mutating func collect(_ value: GATTValue) {
        do throws(FormatError) {
            if value.characteristic.uuid == Assigned.glucoseContext {
                let context = try GlucoseContext(value.bytes)
                contexts[context.sequence] = context
            } else {
                let measurement = try GlucoseMeasurement(value.bytes)
                measurements[measurement.sequence] = measurement
                newest = measurement.sequence
            }
        } catch {
            guard refused.count < RecordHistory.capacity else {
                skipped += 1
                return
            }
            refused.append(.refused(UnreadableSample(.bloodGlucose, "a record of the meter: \(error.problem)")))
        }
    }

    mutating func endTransfer() -> (records: [StoredRecord], isWhole: Bool) {
        last = newest ?? last
        let records = measurements.sorted { $0.key < $1.key }.map { profile.record($0.value, contexts[$0.key]) }
        defer { (measurements, contexts) = ([:], [:]) }
        return (records + refused, isWhole)
    }
}

/// The records of a pulse oximeter: they have no numbers, so all are read each time.
struct OximeterRecords: RecordCollector {
    private var profile: OximeterProfile
    private var records: [StoredRecord] = []
    private(set) var skipped = 0

    init(_ profile: OximeterProfile) { self.profile = profile }

    mutating func begin(all: Bool) -> RecordAccess.Request {
        (records, skipped) = ([], 0)
        return .reportAll
    }

    mutating func collect(_ value: GATTValue) {
        guard records.count < RecordHistory.capacity else {
            skipped += 1
            return
        }
        records.append(profile.record(value.bytes, arrivedAt: nil))
    }

    mutating func endTransfer() -> (records: [StoredRecord], isWhole: Bool) {
        defer { records = [] }
        return (records, true)
    }
}

/// A record of a device's memory.
enum StoredRecord: Sendable, Hashable {
    /// Samples of one or several metrics, all with the same start.
    case samples([Sample])
    /// A record that cannot be used. It is counted.
    case refused(UnreadableSample)
    /// No measurement of a person, such as one of a control solution.
    case none
}
