import GatewayTesting
import TestSupport
import Vitals

/// What only one run in twenty has.
///
/// Each draw comes from a copy of the generator, so that all other runs stay as they were.
struct RareEvents {
    /// How many bad records each wearable keeps from before: far more than ten pages, or none.
    let zeros: [Int]
    /// How many commands come at once.
    let flood: Int?
    /// After how long the store is damaged.
    let damage: Duration?

    init(_ random: SplitMix64, _ plan: Environment.Plan) {
        var copy = random
        var draws = copy.split()
        zeros = (1...3).map { _ in
            let isLong = Int.random(in: 0..<20, using: &draws) == 0
            return isLong && plan.deviceFaults ? Int.random(in: 200...400, using: &draws) : 0
        }
        draws = copy.split()
        let isFlooded = Int.random(in: 0..<20, using: &draws) == 0
        flood = isFlooded ? Int.random(in: Commander.floods, using: &draws) : nil
        draws = copy.split()
        let isDamaged = Int.random(in: 0..<20, using: &draws) == 0
        let after = Int.random(in: 0...180, using: &draws)
        damage = isDamaged && plan.storeFaults ? .seconds(after) : nil
    }
}
