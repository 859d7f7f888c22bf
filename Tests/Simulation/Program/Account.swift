import Foundation
import GatewaySimulation
import Vitals

/// The readable account of a seed's run.
enum Account {
    /// The most characters of a line's event; payloads may be long.
    private static let maximumEvent = 300

    /// Runs a seed and prints what happened. Returns whether all was well.
    static func print(of seed: UInt64) throws -> Bool {
        Swift.print("seed \(seed), from \(SeededRun.start(of: seed))")
        do {
            let run = try SeededRun.run(seed: seed) { for line in $0 { Swift.print(text(of: line)) } }
            Swift.print("\(run.messages) messages, \(run.restarts) restarts")
            for issue in run.issues { Swift.print("WRONG: \(issue)") }
            return run.issues.isEmpty
        } catch {
            Swift.print("WRONG: \(error)")
            return false
        }
    }

    private static func text(of line: Trace.Line) -> String {
        let milliseconds = line.uptime / .milliseconds(1)
        let time = String(
            format: "%2d:%06.3f", Int(milliseconds) / 60_000, (milliseconds / 1000).truncatingRemainder(dividingBy: 60))
        let party = line.party.padding(toLength: 12, withPad: " ", startingAt: 0)
        let event = line.event.count > maximumEvent ? line.event.prefix(maximumEvent) + " …" : line.event[...]
        return "\(time)  \(party)\(event)"
    }
}
