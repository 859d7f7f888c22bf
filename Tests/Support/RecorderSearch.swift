import Synchronization

/// A search for the first element that fulfils a condition, in a list that grows. It does not check again what it has seen.
final class RecorderSearch<Element: Sendable>: Sendable {
    private struct State {
        var next: Int
        var found: (position: Int, element: Element)?
    }
    private let condition: @Sendable (Element) -> Bool
    private let state: Mutex<State>

    init(from start: Int, where condition: @escaping @Sendable (Element) -> Bool) {
        self.condition = condition
        state = Mutex(State(next: start))
    }

    /// The first element that fulfils the condition; `nil` before it was found.
    var found: Element? { state.withLock { $0.found?.element } }

    /// Checks the elements that are new. Two threads may ask at the same time, one with fewer elements, and both check the same ones.
    func hasFound(in elements: [Element]) -> Bool {
        let (next, isFound) = state.withLock { ($0.next, $0.found != nil) }
        if isFound { return true }
        guard next < elements.count else { return false }
        let position = elements[next...].firstIndex(where: condition)
        return state.withLock { state in
            state.next = max(state.next, elements.count)
            if let position, position < state.found?.position ?? .max { state.found = (position, elements[position]) }
            return state.found != nil
        }
    }
}
