import Vitals

/// The identity of a message, packed into the token that its acknowledgement returns.
enum DeliveryMark: Sendable, Hashable {
    /// A whole fact or answer.
    case entry(Lane, Int64)
    /// One of the messages of a fact, counted from 0.
    case part(Lane, Int64, Int)
    /// One of the messages of a fact that is sent again.
    case replay(Int64, Int)
    /// A state, by its number among the states: 0 for the one that begins a connection.
    case state(Int64)

    private static let parts: Int64 = 4
    private static let replays: Int64 = 0xE

    /// Numbers take 60 bits, and 51 beside the number of a part, which is below 200: a thousand facts a second for
    /// seventy thousand years.
    init(token: Int64) {
        let kind = token & 0xF
        if let lane = Lane(rawValue: Int(kind)) {
            self = .entry(lane, token >> 4)
        } else if let lane = Lane(rawValue: Int(kind - Self.parts)) {
            self = .part(lane, token >> 12, Int(token >> 4 & 0xFF))
        } else if kind == Self.replays {
            self = .replay(token >> 12, Int(token >> 4 & 0xFF))
        } else {
            self = .state(token >> 4)
        }
    }

    var token: Int64 {
        switch self {
        case .entry(let lane, let number): number << 4 | Int64(lane.rawValue)
        case .part(let lane, let number, let part):
            number << 12 | Int64(part) << 4 | (Self.parts + Int64(lane.rawValue))
        case .replay(let number, let part): number << 12 | Int64(part) << 4 | Self.replays
        case .state(let number): number << 4 | 0xF
        }
    }

    /// The lane of an entry; `nil` for a state.
    var lane: Lane? {
        switch self {
        case .entry(let lane, _), .part(let lane, _, _): lane
        case .replay, .state: nil
        }
    }

    /// Whether it must arrive, and so is kept when the broker refuses it.
    var isFact: Bool { lane.map { $0 != .answer } ?? false }
}

extension DeliveryMark: CustomStringConvertible {
    /// The text for the log.
    var description: String {
        switch self {
        case .entry(.answer, let number): "answer \(number)"
        case .entry(let lane, let number), .part(let lane, let number, _): "fact \(number) (\(lane))"
        case .replay(let number, _): "fact \(number), sent again"
        case .state: "a state"
        }
    }
}
