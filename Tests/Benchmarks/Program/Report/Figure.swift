/// One line of the report.
struct Figure: Sendable {
    /// The target for the figure.
    enum Aim: Sendable {
        case atLeast(Double)
        case atMost(Double)

        func isMet(by value: Double) -> Bool {
            switch self {
            case .atLeast(let limit): value >= limit
            case .atMost(let limit): value <= limit
            }
        }
    }

    /// A stable name, for programs.
    var key: String
    var title: String
    var value: Double
    var unit: String
    var aim: Aim?
    /// The best value that this design could reach.
    var reach: Double?
    /// The value of a bare loop in the same run.
    var bare: Double?
    var note: String?

    init(
        _ key: String, _ title: String, _ value: Double, _ unit: String, aim: Aim? = nil, reach: Double? = nil,
        bare: Double? = nil, note: String? = nil
    ) {
        self.key = key
        self.title = title
        self.value = value
        self.unit = unit
        self.aim = aim
        self.reach = reach
        self.bare = bare
        self.note = note
    }

    /// Whether the target is met; `nil` without a target.
    var isMet: Bool? { aim.map { $0.isMet(by: value) } }
    /// The gateway's value as a share of the bare loop's.
    var ratio: Double? { bare.flatMap { $0 > 0 ? value / $0 : nil } }
}
