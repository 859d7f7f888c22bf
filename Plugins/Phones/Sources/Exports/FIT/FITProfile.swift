import Vitals

/// A field of Garmin's profile: its number, and by what its number is divided.
struct FITField: Sendable, Hashable {
    let number: UInt8
    let scale: Double

    init(_ number: UInt8, scale: Double = 1) { (self.number, self.scale) = (number, scale) }
}

/// The messages of Garmin's public profile that are read, by their numbers, and their fields. Facts of `Profile.xlsx` of the FIT SDK, as
/// the package garmin-fit-sdk 21.218 has them.
enum FITProfile {
    enum Message: UInt16, CaseIterable, Sendable {
        case fileID = 0
        case session = 18
        case lap = 19
        case record = 20
        case event = 21
        case weightScale = 30
        case bloodPressure = 51
        case monitoring = 55
        case monitoringInfo = 103
        case monitoringHRData = 211
        case stressLevel = 227
        case maxMet = 229
        case spo2Data = 269
        case sleepLevel = 275
        /// What a developer's field is called.
        case fieldDescription = 206
        case respirationRate = 297
        case variability = 371
    }

    enum FileID {
        static let type = FITField(0)
        static let maker = FITField(1)
        static let product = FITField(2)
        static let serial = FITField(3)
        static let created = FITField(4)
        /// The type of a file with workouts. Other types with records are courses and segments, which may be anybody's.
        static let activity: Int64 = 4
    }
    enum Session {
        static let start = FITField(2)
        static let sport = FITField(5)
        static let subSport = FITField(6)
        static let elapsed = FITField(7, scale: 1000)
        static let distance = FITField(9, scale: 100)
        static let cycles = FITField(10)
        static let calories = FITField(11)
        static let averageHeartRate = FITField(16)
        static let maximumHeartRate = FITField(17)
        static let minimumHeartRate = FITField(64)
    }
    enum Lap {
        static let start = FITField(2)
        static let elapsed = FITField(7, scale: 1000)
        static let distance = FITField(9, scale: 100)
        static let calories = FITField(11)
        static let averageHeartRate = FITField(15)
        static let maximumHeartRate = FITField(16)
    }
    enum FieldDescription {
        static let developer = FITField(0)
        static let field = FITField(1)
        static let name = FITField(3)
    }
    enum Record { static let heartRate = FITField(3) }
    enum Event {
        static let event = FITField(0)
        static let type = FITField(1)
        /// The event of sleep, as Gadgetbridge asks for it; the public profile has none. Its type 0 is the start.
        static let sleep: Int64 = 74
    }
    enum Weight {
        static let weight = FITField(0, scale: 100)
        static let fat = FITField(1, scale: 100)
        static let user = FITField(12)
        static let massIndex = FITField(13, scale: 10)
    }
    enum Pressure {
        static let systolic = FITField(0)
        static let diastolic = FITField(1)
        static let heartRate = FITField(6)
        static let user = FITField(9)
    }
    enum Monitoring {
        static let distance = FITField(2, scale: 100)
        /// Steps where the activity is walking or running.
        static let cycles = FITField(3)
        static let activity = FITField(5)
        static let local = FITField(11)
        static let activeCalories = FITField(19)
        /// The activity in the lower five bits, the intensity in the upper three.
        static let activityAndIntensity = FITField(24)
        static let time16 = FITField(26)
        static let heartRate = FITField(27)
    }
    enum MonitoringInfo { static let local = FITField(0) }
    enum Resting { static let today = FITField(1) }
    enum Stress {
        static let level = FITField(0)
        static let time = FITField(1)
    }
    enum MaxMet {
        static let time = FITField(0)
        static let vo2Max = FITField(2, scale: 10)
    }
    enum Oxygen { static let reading = FITField(0) }
    enum SleepLevel {
        static let level = FITField(0)
        static let depths: [Int64: Sleep.Stage.Depth] = [1: .awake, 2: .light, 3: .deep, 4: .rem]
    }
    enum Respiration { static let rate = FITField(0, scale: 100) }
    enum Variability { static let value = FITField(0, scale: 128) }

    /// Makers that files name most, by their numbers. The names are those of the profile.
    private static let makers: [Int64: String] = [
        1: "garmin", 23: "suunto", 32: "wahoo_fitness", 69: "stages_cycling", 70: "sigmasport", 89: "tacx",
        107: "magene", 115: "igpsport", 123: "polar_electro", 255: "development", 258: "lezyne", 260: "zwift",
        265: "strava", 267: "bryton", 281: "trainer_road", 289: "hammerhead", 294: "coros", 305: "whoop",
        310: "decathlon", 339: "zepp", 348: "huawei",
    ]
    /// Those whose devices are mostly worn as watches.
    private static let watches: Set<Int64> = [1, 23, 123, 294, 339, 348]

    /// Who made a file: its maker's name, and whether that makes watches. An unknown maker is `maker_` with its number.
    static func maker(_ number: Int64) -> (name: String, isWatch: Bool) {
        (makers[number] ?? "maker_\(number)", watches.contains(number))
    }

    private static let sports: [Int64: String] = [
        0: "exercise", 1: "running", 2: "cycling", 3: "transition", 4: "fitness_equipment", 5: "swimming",
        6: "basketball", 7: "soccer", 8: "tennis", 9: "american_football", 10: "training", 11: "walking",
        12: "cross_country_skiing", 13: "skiing", 14: "snowboarding", 15: "rowing", 16: "mountaineering", 17: "hiking",
        18: "multisport", 19: "paddling", 21: "e_biking", 25: "golf", 30: "skating", 31: "rock_climbing",
        32: "sailing", 33: "ice_skating", 35: "snowshoeing", 37: "stand_up_paddleboarding", 38: "surfing",
        41: "kayaking", 47: "boxing", 48: "stair_climbing", 53: "diving", 62: "high_intensity_interval_training",
        64: "racket", 65: "wheelchair", 66: "wheelchair", 67: "meditation", 71: "cricket", 72: "rugby", 73: "hockey",
        75: "volleyball", 83: "dancing", 84: "jump_rope",
    ]
    /// Sub-sports that say more than their sport.
    private static let subSports: [Int64: String] = [
        1: "treadmill", 5: "indoor_cycling", 6: "indoor_cycling", 14: "rowing_machine", 15: "elliptical",
        16: "stair_climbing_machine", 18: "open_water_swimming", 20: "strength", 43: "yoga", 44: "pilates",
        62: "guided_breathing", 70: "high_intensity_interval_training", 94: "squash", 95: "badminton",
        96: "racquetball", 97: "table_tennis",
    ]

    /// The name of a workout, the same as that of other sources where there is one. An unknown one is `sport_` with its number, so that
    /// none is lost or guessed.
    static func sport(_ sport: Int64, _ subSport: Int64?) -> String {
        subSport.flatMap { subSports[$0] } ?? sports[sport] ?? "sport_\(sport)"
    }
    /// Sports on foot, of which a cycle is a stride: two steps.
    static let onFoot: Set<Int64> = [1, 11, 17]

    /// What `Qualifier.activity` says of the kinds of monitoring.
    static let activities: [Int64: String] = [
        1: "walking_running", 2: "cycling", 5: "swimming", 6: "walking_running", 13: "wheelchair",
    ]
    /// The kinds of which a cycle is a step: running and walking.
    static let withSteps: Set<Int64> = [1, 6]
    /// The kind that sums up the others.
    static let all: Int64 = 254
}

extension Timestamp {
    /// Seconds from 1970 to FIT's first second, 1989-12-31.
    static let fitEpoch: Int64 = 631_065_600

    /// A time of FIT.
    init(fit seconds: Int64) { self.init(seconds: seconds + Self.fitEpoch) }
}
