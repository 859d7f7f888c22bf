import GatewayKit
import Vitals

/// The records of a glucose meter.
struct GlucoseProfile: Sendable {
    /// 1 mmol/L of glucose in mg/dL: its molar mass is 180.16 g/mol.
    static let milligramsPerMillimole = 18.016

    private let clock: RecordClock

    init(calendar: LocalCalendar) { clock = RecordClock(calendar: calendar) }

    /// A record with the context that belongs to it, if it has one.
    func record(_ record: GlucoseMeasurement, _ context: GlucoseContext?) -> StoredRecord {
        // A test of the meter, and none of a person.
        if record.fluid == Self.controlSolution.fluid || record.location == Self.controlSolution.location {
            return .none
        }
        var start: Timestamp?
        do throws(FormatError) {
            let moment = try clock.moment(record.baseTime) + .minutes(record.timeOffset ?? 0)
            start = moment
            if let problem = Self.problem(record.status ?? []) { throw FormatError(problem) }
            guard let amount = record.concentration?.number else { throw FormatError("the meter could not measure it") }
            var qualifiers: [Qualifier: String] = [:]
            qualifiers[.specimen] = Self.specimen(record.fluid)
            qualifiers[.meal] = context?.meal.flatMap(Self.meal)
            // From kg/L and mol/L, rounded to what a meter shows, since a tenth has no exact binary form.
            let value = record.isMolar ? amount * 1000 * Self.milligramsPerMillimole : amount * 100_000
            return .samples([
                Sample(
                    metric: .bloodGlucose, start: moment, isUserInitiated: true, qualifiers: qualifiers,
                    reading: .value((value * 10).rounded() / 10))
            ])
        } catch {
            return .refused(UnreadableSample(.bloodGlucose, at: start, "a blood glucose: \(error.problem)"))
        }
    }

    private static let controlSolution = (fluid: 10, location: 4)

    /// Why a record is no blood glucose; `nil` if it is one. A low battery is no reason.
    private static func problem(_ status: GlucoseMeasurement.Status) -> String? {
        switch status {
        case _ where status.contains(.timeFault): "the meter's clock was wrong"
        case _ where !status.isDisjoint(with: [.aboveRange, .belowRange]): "it is out of the meter's range"
        case _ where !status.isDisjoint(with: [.tooHot, .tooCold]): "the meter was too hot or too cold"
        case _ where !status.isDisjoint(with: [.stripInsertion, .wrongStrip, .readInterrupted]):
            "the strip was not right"
        case _ where status.contains(.sampleTooSmall): "there was too little blood"
        case _ where !status.isDisjoint(with: [.malfunction, .generalFault]): "the meter had a fault"
        default: nil
        }
    }

    /// The word for a fluid of the service; its plasmas are one.
    private static func specimen(_ fluid: Int) -> String? {
        switch fluid {
        case 1: "capillary_blood"
        case 3: "venous_blood"
        case 5: "arterial_blood"
        case 7: "whole_blood"
        case 2, 4, 6, 8: "plasma"
        case 9: "interstitial_fluid"
        default: nil
        }
    }

    private static func meal(_ code: Int) -> String? {
        switch code {
        case 1: "before"
        case 2: "after"
        case 3: "fasting"
        case 4: "random"
        case 5: "bedtime"
        default: nil
        }
    }
}
