import Concurrency

/// The turns of the two tasks that take commands: one begins them, the other refuses those in excess.
package final class CommandTurns: Sendable {
    let running = TurnProbe()
    let refusing = TurnProbe()

    package init() {}

    /// Returns when both tasks have taken a turn, or have nothing to do.
    package func answer() async {
        await running.answer()
        await refusing.answer()
    }
}
