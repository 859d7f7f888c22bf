import Foundation
import Vitals

/// An element below the root of Apple's export, while it is read.
struct AppleRecord {
    /// What kind of element it is.
    enum Kind { case record, workout, bloodPressure, other }

    var kind: Kind
    /// What was measured, as HealthKit names it, without the beginning that all of them have; else the element's name.
    var type: String
    var source = ""
    var unit: String?
    var value = ""
    var start: Timestamp?
    var end: Timestamp?
    /// Whether a time is not one with a zone.
    var hasNoTime = false
    /// `HKMetadataKeyHeartRateMotionContext`: 1 is sedentary, 2 active.
    var motion: String?
    /// `HKBloodGlucoseMealTime`: 1 is before a meal, 2 after it.
    var meal: String?
    /// `HKTimeZone`: where it was measured, such as `Europe/Berlin`.
    var zone: String?
    /// Of a workout, and of a blood pressure: the quantities of its parts.
    var parts: [Part] = []

    /// The most parts that are kept: a workout has one for each of HealthKit's types.
    static let maximumParts = 100

    /// A quantity of a part.
    struct Part {
        var type: String
        var unit: String?
        var sum: Double?
        var average: Double?
        var minimum: Double?
        var maximum: Double?
    }

    /// The texts of elements that come again and again.
    struct Texts {
        fileprivate var types = RepeatedTexts()
        fileprivate var sources = RepeatedTexts()
        fileprivate var units = RepeatedTexts()
    }

    /// What begins with these attributes.
    init(_ name: String, _ attributes: AttributeList, _ texts: inout Texts) {
        kind = name == "Record" ? .record : name == "Workout" ? .workout : .other
        type = name
        var (energy, distance) = (Part(type: "ActiveEnergyBurned"), Part(type: "DistanceWalkingRunning"))
        attributes.forEach { key, text in
            switch key {
            case .type, .workoutActivityType: type = texts.types.text(text, Self.withoutPrefix)
            case .sourceName: source = texts.sources.text(text)
            case .unit: unit = texts.units.text(text)
            case .value: value = String(cString: text)
            case .startDate: start = moment(text)
            case .endDate: end = moment(text)
            // Of exports before iOS 16, whose workouts have no statistics.
            case .totalEnergyBurned: energy.sum = Double(String(cString: text))
            case .totalEnergyBurnedUnit: energy.unit = String(cString: text)
            case .totalDistance: distance.sum = Double(String(cString: text))
            case .totalDistanceUnit: distance.unit = String(cString: text)
            default: break
            }
        }
        if name == "Correlation", type == "BloodPressure" { kind = .bloodPressure }
        if kind == .workout { parts = [energy, distance].filter { $0.sum != nil } }
    }

    /// Notes an element within it.
    mutating func add(_ name: String, _ attributes: AttributeList) {
        switch name {
        case "MetadataEntry":
            var (key, value) = ("", "")
            attributes.forEach { name, text in
                if name == .key { key = String(cString: text) } else if name == .value { value = String(cString: text) }
            }
            if key == "HKMetadataKeyHeartRateMotionContext" { motion = value }
            if key == "HKBloodGlucoseMealTime" { meal = value }
            if key == "HKTimeZone" { zone = value }
        case "WorkoutStatistics" where kind == .workout, "Record" where kind == .bloodPressure:
            guard parts.count < Self.maximumParts else { return }
            var part = Part(type: "")
            attributes.forEach { name, text in
                switch name {
                case .type: part.type = Self.withoutPrefix(String(cString: text))
                case .unit: part.unit = String(cString: text)
                case .sum, .value: part.sum = Double(String(cString: text))
                case .average: part.average = Double(String(cString: text))
                case .minimum: part.minimum = Double(String(cString: text))
                case .maximum: part.maximum = Double(String(cString: text))
                default: break
                }
            }
            parts.removeAll { $0.type == part.type }
            parts.append(part)
        default: break
        }
    }

    private mutating func moment(_ text: UnsafePointer<CChar>) -> Timestamp? {
        let moment = AppleTime.moment(text)
        if moment == nil { hasNoTime = true }
        return moment
    }

    private static let prefixes = [
        "HKQuantityTypeIdentifier", "HKCategoryTypeIdentifier", "HKCorrelationTypeIdentifier", "HKWorkoutActivityType",
        "HKDataType",
    ]

    private static func withoutPrefix(_ type: String) -> String {
        prefixes.first { type.hasPrefix($0) }.map { String(type.dropFirst($0.count)) } ?? type
    }

    /// The metric's name in the posts of Health Auto Export, by HealthKit's type without its beginning.
    static let names = [
        "HeartRate": "heart_rate", "RestingHeartRate": "resting_heart_rate",
        "WalkingHeartRateAverage": "walking_heart_rate_average", "HeartRateRecoveryOneMinute": "cardio_recovery",
        "HeartRateVariabilitySDNN": "heart_rate_variability", "OxygenSaturation": "blood_oxygen_saturation",
        "RespiratoryRate": "respiratory_rate", "VO2Max": "vo2_max", "BodyTemperature": "body_temperature",
        "BasalBodyTemperature": "basal_body_temperature",
        "AppleSleepingWristTemperature": "apple_sleeping_wrist_temperature", "BloodGlucose": "blood_glucose",
        "BloodPressure": "blood_pressure",
        "BodyMass": "body_mass", "BodyFatPercentage": "body_fat_percentage", "LeanBodyMass": "lean_body_mass",
        "Height": "height", "BodyMassIndex": "body_mass_index",
        "EnvironmentalAudioExposure": "environmental_audio_exposure",
        "HeadphoneAudioExposure": "headphone_audio_exposure", "StepCount": "step_count",
        "DistanceWalkingRunning": "walking_running_distance", "DistanceCycling": "cycling_distance",
        "DistanceSwimming": "swimming_distance", "DistanceWheelchair": "wheelchair_distance",
        "ActiveEnergyBurned": "active_energy", "BasalEnergyBurned": "basal_energy_burned",
        "FlightsClimbed": "flights_climbed", "AppleExerciseTime": "apple_exercise_time",
        "AppleStandHour": "apple_stand_hour", "DietaryWater": "dietary_water",
        "DietaryEnergyConsumed": "dietary_energy", "DietaryProtein": "protein",
        "DietaryCarbohydrates": "carbohydrates", "DietaryFatTotal": "total_fat",
    ]

    /// The stage of a record of sleep; `nil` for a word that is unknown.
    var depth: Sleep.Stage.Depth? {
        switch value {
        case "HKCategoryValueSleepAnalysisInBed": .inBed
        case "HKCategoryValueSleepAnalysisAsleep", "HKCategoryValueSleepAnalysisAsleepUnspecified": .asleep
        case "HKCategoryValueSleepAnalysisAsleepCore": .light
        case "HKCategoryValueSleepAnalysisAsleepDeep": .deep
        case "HKCategoryValueSleepAnalysisAsleepREM": .rem
        case "HKCategoryValueSleepAnalysisAwake": .awake
        default: nil
        }
    }
}

/// The times of Apple's export: `2024-02-06 14:30:00 +0200`.
enum AppleTime {
    /// The moment of a text; `nil` if it is none, or has no zone. The offset is that of the phone at the time of the export, and says nothing
    /// of the day.
    static func moment(_ text: UnsafePointer<CChar>) -> Timestamp? {
        // The usual form, of which there are millions.
        func number(_ place: Int, _ count: Int) -> Int? {
            var result = 0
            for next in place..<place + count {
                guard case let digit = Int(text[next]) - 48, (0...9).contains(digit) else { return nil }
                result = result * 10 + digit
            }
            return result
        }
        func has(_ place: Int, _ character: Unicode.Scalar) -> Bool {
            UInt8(bitPattern: text[place]) == UInt8(ascii: character)
        }
        // Each is read only if the ones before are there, so that nothing behind the end is.
        if let year = number(0, 4), has(4, "-"), let month = number(5, 2), has(7, "-"), let day = number(8, 2),
            has(10, " "),
            let hour = number(11, 2), has(13, ":"), let minute = number(14, 2), has(16, ":"),
            let second = number(17, 2),
            has(19, " "), has(20, "+") || has(20, "-"), let hours = number(21, 2), let minutes = number(23, 2),
            text[25] == 0,
            hour < 24, minute < 60, second < 60, hours <= 18, minutes < 60, (1970...2199).contains(year),
            let date = LocalDay(year: year, month: month, day: day)
        {
            let offset = (has(20, "-") ? -1 : 1) * (hours * 60 + minutes)
            let moment = (Int64(date.number) * 24 + Int64(hour)) * 60 + Int64(minute - offset)
            return Timestamp(milliseconds: (moment * 60 + Int64(second)) * 1000)
        }
        let text = String(cString: text)
        guard PhoneTime.timeOfDay(text) != nil else { return nil }
        return PhoneTime.moment(text, calendar: LocalCalendar(timeZone: .gmt))
    }
}
