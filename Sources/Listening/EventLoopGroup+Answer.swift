import Concurrency
package import NIOCore

extension EventLoopGroup {
    /// Returns when each thread of the group has taken a turn, or the task is cancelled.
    package func answer() async {
        for loop in makeIterator() {
            let turn = Promise<Void>()
            loop.execute { turn.fulfil(()) }
            do { try await turn.wait() } catch { return }
        }
    }
}
