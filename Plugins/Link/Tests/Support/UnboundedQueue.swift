import Concurrency
import Synchronization

/// An unbounded, closable queue from many tasks to one, which takes one element at a time.
final class UnboundedQueue<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var isClosed = false
    }
    private let state = Mutex(State())
    private let arrival = Signal()

    func put(_ element: Element) {
        state.withLock { $0.elements.append(element) }
        arrival.wake()
    }

    func close() {
        state.withLock { $0.isClosed = true }
        arrival.wake()
    }

    /// Waits for the next element; `nil` if the queue is closed and empty, or the task is cancelled.
    func next() async -> Element? {
        while !Task.isCancelled {
            let (element, isClosed) = state.withLock { state -> (Element?, Bool) in
                (state.elements.isEmpty ? nil : state.elements.removeFirst(), state.isClosed)
            }
            if element != nil || isClosed { return element }
            await arrival.wait()
        }
        return nil
    }
}
