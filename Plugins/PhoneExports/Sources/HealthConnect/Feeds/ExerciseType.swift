/// Android's types of exercise sessions, as its database stores them (`android.health.connect.datatypes.ExerciseSessionType`).
/// The library androidx has other numbers for the same names.
enum ExerciseType {
    /// By their numbers, from 0.
    private static let names = [
        "unknown", "badminton", "baseball", "basketball", "cycling", "indoor_cycling", "boot_camp", "boxing",
        "calisthenics", "cricket", "dancing", "exercise_class", "fencing", "american_football",
        "australian_football", "frisbee", "golf", "guided_breathing", "gymnastics", "handball",
        "high_intensity_interval_training", "hiking", "ice_hockey", "ice_skating", "martial_arts", "paddling",
        "paragliding", "pilates", "racquetball", "rock_climbing", "roller_hockey", "rowing", "rugby", "running",
        "treadmill", "sailing", "scuba_diving", "skating", "skiing", "snowboarding", "snowshoeing", "soccer",
        "softball", "squash", "stair_climbing", "strength", "stretching", "surfing", "open_water_swimming",
        "swimming", "table_tennis", "tennis", "volleyball", "walking", "water_polo", "weightlifting", "wheelchair",
        "yoga", "other", "stair_climbing_machine", "elliptical", "rowing_machine",
    ]

    /// The name of a workout, the same as that of other sources where there is one. One whose type is unknown is `type_` with
    /// that number, so that none is lost or guessed.
    static func name(of type: Int64) -> String {
        Int(exactly: type).flatMap { names.indices.contains($0) ? names[$0] : nil } ?? "type_\(type)"
    }
}
