import Vitals

/// How a metric is coded in FHIR: codes of LOINC, a unit of UCUM, and the profile of vital signs if there is one.
struct ClinicalCode: Sendable {
    /// A code of a system.
    struct Coding: Sendable, Hashable {
        var system: String
        var code: String
        var display: String

        static func loinc(_ code: String, _ display: String) -> Coding {
            Coding(system: "http://loinc.org", code: code, display: display)
        }

        /// A code of our own, for what no code of LOINC means exactly.
        static func own(_ code: String, _ display: String? = nil) -> Coding {
            let words = code.replacing("_", with: " ")
            let name = words.prefix(1).uppercased() + words.dropFirst()
            return Coding(system: ownSystem, code: code, display: display ?? name)
        }
    }

    /// Our own code system: its codes are the names of metrics and fields in the contract.
    static let ownSystem = "urn:vitals2mqtt:metric"

    /// Where it stands what the codes of a row mean; a page of LOINC ends with the code.
    enum Source: String, CaseIterable, Sendable {
        case vitalSigns = "https://hl7.org/fhir/R4B/observation-vitalsigns.html"
        case loinc = "https://loinc.org/"
        case sleep = "https://hl7.org/fhir/uv/phr/2025May/ValueSet-pcd-sleep-observation-code.html"
        case physicalActivity = "https://hl7.org/fhir/us/physical-activity/ValueSet-pa-observation-code-activity.html"
        /// 41950-7 and 40443-4, with rates of a day as units.
        case activityOfADay = "https://hl7.org/fhir/us/physical-activity/ValueSet-pa-observation-code-time.html"
        case own = "docs/Exporting.md"
    }

    /// The most general code first, as the profiles want it.
    var codings: [Coding]
    /// The unit of UCUM; `nil` for a panel, whose parts have units.
    var unit: Unit?
    /// A code of `http://terminology.hl7.org/CodeSystem/observation-category`; `nil` for none.
    var category: String?
    /// The last part of the profile's URL.
    var profile: String?
    var source: Source

    /// A unit as people and as UCUM write it.
    struct Unit: Sendable, Hashable {
        var text: String
        var code: String

        /// The unit of the contract with this text, `nil` for none: the number is a score.
        init(_ text: String?) {
            self.text = text ?? "score"
            code = text.map { Self.codes[$0] ?? "{\($0)}" } ?? "{score}"
        }

        /// Units of the contract that UCUM writes in another way (https://ucum.org/ucum). What UCUM does not know is an annotation.
        private static let codes = [
            "bpm": "/min", "mmHg": "mm[Hg]", "%": "%", "°C": "Cel", "steps": "{steps}", "min": "min", "ms": "ms",
            "breaths/min": "/min", "kg": "kg", "mg/dL": "mg/dL", "m": "m", "cm": "cm", "kcal": "kcal", "mL": "mL",
            "g": "g", "h": "h", "kg/m²": "kg/m2", "mL/(kg·min)": "mL/kg/min", "dBA": "dB[SPL]{A}",
            "steps/d": "{steps}/d",
        ]
        static let perMinute = Unit("bpm")
        static let minutes = Unit("min")
        static let steps = Unit("steps")
        static let pressure = Unit("mmHg")
        static let metres = Unit("m")
        static let energy = Unit("kcal")
    }

    private init(
        _ codings: [Coding], _ unit: Unit?, category: String? = nil, profile: String? = nil, _ source: Source
    ) {
        self.codings = codings
        self.unit = unit
        self.category = category
        self.profile = profile
        self.source = source
    }

    private static func vital(_ codings: [Coding], _ unit: Unit?, _ profile: String, _ source: Source = .vitalSigns)
        -> ClinicalCode
    { ClinicalCode(codings, unit, category: "vital-signs", profile: profile, source) }

    private static let heartRate = Coding.loinc("8867-4", "Heart rate")
    static let systolic = Coding.loinc("8480-6", "Systolic blood pressure")
    static let diastolic = Coding.loinc("8462-4", "Diastolic blood pressure")
    static let pulse = heartRate
    static let stepCount = Coding.loinc("55423-8", "Number of steps in unspecified time Pedometer")
    static let activity = Coding.loinc("73985-4", "Exercise activity")

    /// The rows by the name of the metric.
    private static let rows: [String: ClinicalCode] = [
        "heart_rate": .vital([heartRate], .perMinute, "heartrate"),
        // The profile wants the general code beside a special one.
        "resting_heart_rate": .vital(
            [heartRate, .loinc("40443-4", "Heart rate --resting")], .perMinute, "heartrate", .activityOfADay),
        "blood_pressure": .vital([.loinc("85354-9", "Blood pressure panel with all children optional")], nil, "bp"),
        "blood_oxygen": .vital(
            [
                .loinc("2708-6", "Oxygen saturation in Arterial blood"),
                .loinc("59408-5", "Oxygen saturation in Arterial blood by Pulse oximetry"),
            ], Unit("%"), "oxygensat"),
        "temperature": .vital([.loinc("8310-5", "Body temperature")], Unit("°C"), "bodytemp"),
        "respiratory_rate": .vital([.loinc("9279-1", "Respiratory rate")], Unit("breaths/min"), "resprate"),
        "weight": .vital([.loinc("29463-7", "Body weight")], Unit("kg"), "bodyweight"),
        "height": .vital([.loinc("8302-2", "Body height")], Unit("cm"), "bodyheight"),
        "body_mass_index": .vital([.loinc("39156-5", "Body mass index (BMI) [Ratio]")], Unit("kg/m²"), "bmi"),
        // Measured in any way, also by an electric current (the description of 73708-0 says so).
        "body_fat": ClinicalCode([.loinc("41982-0", "Percentage of body fat Measured")], Unit("%"), .loinc),
        // All but fat.
        "lean_mass": ClinicalCode([.loinc("91557-9", "Lean body weight")], Unit("kg"), .loinc),
        "steps": ClinicalCode([stepCount], .steps, category: "activity", .loinc),
        "sleep": ClinicalCode([.loinc("93832-4", "Sleep duration")], .minutes, category: "activity", .sleep),
        "sport": ClinicalCode(
            [.loinc("55411-3", "Exercise duration")], .minutes, category: "activity", .physicalActivity),
        // Not 39106-0, "Temperature of Skin": its scale is nominal, for a hand that finds it cold or warm.
        "skin_temperature": ClinicalCode([.loinc("61008-9", "Body surface temperature")], Unit("°C"), .loinc),
        // Of the energies there is none: 41981-2, "Calories burned", is a rate of a moment (EngRat), and 41979-6, those of 24
        // hours, does not say whether rest counts.
    ]

    /// A time in bed of which nothing says whether the person slept. 103213-5, "Duration in bed", is a rate (NRat).
    private static let inBed = ClinicalCode([stage(.inBed)], .minutes, category: "activity", .own)

    /// The codes of a glucose by its specimen.
    private static let glucose: [String: Coding] = [
        "capillary_blood": .loinc("32016-8", "Glucose [Mass/volume] in Capillary blood"),
        "whole_blood": .loinc("2339-0", "Glucose [Mass/volume] in Blood"),
        "plasma": .loinc("2345-7", "Glucose [Mass/volume] in Serum or Plasma"),
        "serum": .loinc("2345-7", "Glucose [Mass/volume] in Serum or Plasma"),
        "interstitial_fluid": .loinc("99504-3", "Glucose [Mass/volume] in Interstitial fluid"),
    ]

    /// The rows of what a sample says more exactly by a word of a qualifier.
    private static let byWord: [String: [String: ClinicalCode]] = [
        "heart_rate_variability": [
            "sdnn": ClinicalCode(
                [.loinc("80404-7", "R-R interval.standard deviation (Heart rate variability)")], Unit("ms"), .loinc)
        ],
        "blood_glucose": glucose.mapValues { ClinicalCode([$0], Unit("mg/dL"), .loinc) },
    ]

    /// The rows of what lasts a day: only that is a number of 24 hours, whose property is a rate (NRat).
    private static let ofDay: [String: ClinicalCode] = [
        "steps": ClinicalCode(
            [.loinc("41950-7", "Number of steps in 24 hour Measured")], Unit("steps/d"), category: "activity",
            .activityOfADay)
    ]

    /// The codes of stages of sleep, of `Source.sleep`.
    static func stage(_ depth: Sleep.Stage.Depth) -> Coding {
        switch depth.rawValue {
        case "deep": .loinc("93831-6", "Deep sleep duration")
        case "light": .loinc("93830-8", "Light sleep duration")
        case "rem": .loinc("93829-0", "REM sleep duration")
        default: .own("\(depth.rawValue)_min", "Minutes \(depth.rawValue.replacing("_", with: " "))")
        }
    }

    /// How a sample is coded. What has no code that means exactly this has one of our own, by the name of the metric.
    static func of(_ sample: Sample) -> ClinicalCode {
        if sample.minutesOnlyInBed != nil { return inBed }
        let (metric, name) = (sample.metric, sample.metric.rawValue)
        if sample.duration == .days(1), let row = ofDay[name] { return row }
        if let words = byWord[name], let row = sample.qualifiers.values.compactMap({ words[$0] }).first { return row }
        return rows[name] ?? ClinicalCode([.own(name)], Unit(metric.unit), .own)
    }
}

extension Sample {
    /// The minutes in bed of a sleep of which nothing says that the person slept; `nil` if anything does.
    var minutesOnlyInBed: Double? {
        guard case .sleep(let sleep) = reading, sleep.detail == .inBed, sleep.minutes(.inBed) > 0 else { return nil }
        return Double(sleep.minutes(.inBed))
    }
}
