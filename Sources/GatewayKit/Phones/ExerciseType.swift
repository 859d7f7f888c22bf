/// The types of exercise sessions of Health Connect, which two numberings name.
package enum ExerciseType {
    /// By the numbers of Android, from 0, as its database stores them (`android.health.connect.datatypes.ExerciseSessionType`), each
    /// with the number of the library androidx (`ExerciseSessionRecord.EXERCISE_TYPE_*`), by which apps call it.
    private static let all: [(name: String, library: Int64?)] = [
        ("unknown", nil), ("badminton", 2), ("baseball", 4), ("basketball", 5), ("cycling", 8),
        ("indoor_cycling", 9), ("boot_camp", 10), ("boxing", 11), ("calisthenics", 13), ("cricket", 14),
        ("dancing", 16), ("exercise_class", 26), ("fencing", 27), ("american_football", 28),
        ("australian_football", 29), ("frisbee", 31), ("golf", 32), ("guided_breathing", 33), ("gymnastics", 34),
        ("handball", 35), ("high_intensity_interval_training", 36), ("hiking", 37), ("ice_hockey", 38),
        ("ice_skating", 39), ("martial_arts", 44), ("paddling", 46), ("paragliding", 47), ("pilates", 48),
        ("racquetball", 50), ("rock_climbing", 51), ("roller_hockey", 52), ("rowing", 53), ("rugby", 55),
        ("running", 56), ("treadmill", 57), ("sailing", 58), ("scuba_diving", 59), ("skating", 60), ("skiing", 61),
        ("snowboarding", 62), ("snowshoeing", 63), ("soccer", 64), ("softball", 65), ("squash", 66),
        ("stair_climbing", 68), ("strength", 70), ("stretching", 71), ("surfing", 72), ("open_water_swimming", 73),
        ("swimming", 74), ("table_tennis", 75), ("tennis", 76), ("volleyball", 78), ("walking", 79),
        ("water_polo", 80), ("weightlifting", 81), ("wheelchair", 82), ("yoga", 83), ("other", 0),
        ("stair_climbing_machine", 69), ("elliptical", 25), ("rowing_machine", 54),
    ]
    private static let byLibrary = Dictionary(
        uniqueKeysWithValues: all.compactMap { type in type.library.map { ($0, type.name) } })

    /// The name of a workout, the same as that of other sources where there is one. One whose type is unknown is `type_` with
    /// that number, so that none is lost or guessed.
    package static func name(of type: Int64) -> String {
        Int(exactly: type).flatMap { all.indices.contains($0) ? all[$0].name : nil } ?? unknown(type)
    }

    /// The same for a number of the library.
    package static func name(ofLibrary type: Int64) -> String { byLibrary[type] ?? unknown(type) }

    private static func unknown(_ type: Int64) -> String { "type_\(type)" }
}
