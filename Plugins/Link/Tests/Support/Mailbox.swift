import Synchronization

/// An unbounded queue from many tasks to one, which can be closed.
final class Mailbox<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var isClosed = false
        var receiver: CheckedContinuation<Void, Never>?
    }
    private let state = Mutex(State())

    func put(_ element: Element) {
        state.withLock { state in
            state.elements.append(element)
            state.receiver.take()?.resume()
        }
    }

    func close() {
        state.withLock { state in
            state.isClosed = true
            state.receiver.take()?.resume()
        }
    }

    /// Waits for the next element; `nil` when the mailbox is closed and empty, or the task is cancelled.
    func next() async -> Element? {
        while !Task.isCancelled {
            let (element, isClosed) = state.withLock { state -> (Element?, Bool) in
                (state.elements.isEmpty ? nil : state.elements.removeFirst(), state.isClosed)
            }
            if element != nil || isClosed { return element }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    state.withLock { state in
                        if !state.elements.isEmpty || state.isClosed || Task.isCancelled {
                            continuation.resume()
                        } else {
                            state.receiver = continuation
                        }
                    }
                }
            } onCancel: {
                state.withLock { $0.receiver.take()?.resume() }
            }
        }
        return nil
    }
}
