import DequeModule
import Synchronization

/// Elements that are handled one after the other, by a task that exists only while there are some.
package final class WorkQueue<Element: Sendable>: Sendable {
    private struct State {
        var elements: Deque<Element> = []
        /// Whether a task handles them.
        var isBusy = false
        var isClosed = false
    }
    private let state = Mutex(State())
    private let capacity: Int
    private let launcher: TaskLauncher

    /// - Parameters:
    ///   - capacity: how many elements may wait, without the one that is being handled.
    ///   - launcher: runs the tasks.
    package init(capacity: Int = .max, launcher: TaskLauncher) {
        self.capacity = capacity
        self.launcher = launcher
    }

    /// Adds an element, and returns at once, unless the launcher is at its end: then the element is handled here.
    /// - Parameter handle: handles this and all further elements until none is left.
    package func add(_ element: Element, _ handle: @escaping @Sendable (Element) async -> Void) async -> Admission {
        let (admission, begins) = state.withLock { state -> (Admission, Bool) in
            guard !state.isClosed else { return (.closed, false) }
            guard state.elements.count < capacity else { return (.full, false) }
            state.elements.append(element)
            defer { state.isBusy = true }
            return (.taken, !state.isBusy)
        }
        if begins { await launcher.perform { while let element = self.next() { await handle(element) } } }
        return admission
    }

    /// Takes no more elements. Those that wait are still handled.
    package func close() { state.withLock { $0.isClosed = true } }

    private func next() -> Element? {
        state.withLock { state in
            let element = state.elements.popFirst()
            if element == nil { state.isBusy = false }
            return element
        }
    }
}
