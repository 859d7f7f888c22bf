/// Gadgetbridge's codes of activities, as far as they are documented; newer ones stand for about 250 sports.
enum ActivityKind {
    private static let names: [Int64: String] = [
        0x10: "running", 0x20: "walking", 0x40: "swimming", 0x80: "cycling", 0x100: "treadmill", 0x200: "exercise",
        0x400: "open_water_swimming", 0x800: "indoor_cycling", 0x1000: "elliptical", 0x2000: "jump_rope",
        0x4000: "yoga", 0x8000: "soccer", 0x1_0000: "rowing_machine", 0x20_0000: "strength", 0x40_0000: "hiking",
        0x80_0000: "climbing",
    ]

    /// The name of a workout. One whose code is unknown is `kind_` with that code, so that none is lost or guessed.
    static func name(of code: Int64) -> String {
        names[code] ?? (code <= 1 ? "unknown" : "kind_\(String(code, radix: 16))")
    }
}
