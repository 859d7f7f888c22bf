/// Why a simulation did not end. Its text names the seed, which replays the run.
package struct SimulationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What happened.
    package enum Code: Sendable, Hashable {
        /// Every task waits and none sleeps: they wait for each other, or for something outside the simulation.
        case deadlock
        /// The simulated time limit has passed.
        case deadline
        /// Jobs keep coming while simulated time does not pass.
        case livelock
    }
    /// What happened.
    package var code: Code
    /// The seed of the run.
    package var seed: UInt64
    /// The simulated time at which it happened.
    package var uptime: Duration

    init(_ code: Code, in simulation: Simulation) {
        self.code = code
        seed = simulation.seed
        uptime = simulation.uptime
    }

    /// The text for a person.
    package var description: String {
        let what =
            switch code {
            case .deadlock:
                "every task waits and none sleeps: they wait for each other, or for something outside the simulation"
            case .deadline: "the deadline has passed"
            case .livelock: "jobs keep coming without time passing"
            }
        return "Seed \(seed), after \(uptime): \(what)."
    }
}
