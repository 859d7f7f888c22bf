import Synchronization

/// A bounded queue between tasks that send elements and one that takes all waiting elements at once.
///
/// `send` suspends while the mailbox is full, to hold back the sender. `Failure` is the error with which the mailbox
/// may finish.
package final class Mailbox<Element: Sendable, Failure: Error>: Sendable {
    private struct State {
        var elements: [Element] = []
        var weight = 0
        var end: Result<Void, Failure>?
        var senders: [Waiter<Void>] = []

        mutating func takeSenders() -> [Waiter<Void>] {
            defer { senders = [] }
            return senders
        }
    }
    private let state = Mutex(State())
    private let arrival = Signal()
    private let capacity: Int
    private let weigh: @Sendable (Element) -> Int

    /// The result of `next`.
    package enum Batch {
        /// All waiting elements, at least one.
        case elements([Element])
        /// Nothing more will come.
        case finished
        /// The task was cancelled while the mailbox was empty.
        case cancelled
    }

    /// An empty mailbox, which is full once the total weight of the waiting elements reaches `capacity`.
    package init(capacity: Int, weight: @escaping @Sendable (Element) -> Int = { _ in 1 }) {
        self.capacity = capacity
        self.weigh = weight
    }

    /// Adds an element if there is room, without waiting.
    package func offer(_ element: Element) -> Admission {
        let weight = weigh(element)
        let admission = state.withLock { state -> Admission in
            guard state.end == nil else { return .closed }
            guard state.weight < capacity else { return .full }
            state.elements.append(element)
            state.weight += weight
            return .taken
        }
        if admission == .taken { arrival.wake() }
        return admission
    }

    /// Adds elements. Returns once there is room for more or the task is cancelled. Drops the elements after `finish`.
    package func send(_ elements: [Element]) async {
        var weight = 0
        for element in elements { weight += weigh(element) }
        let (isOpen, waiter) = state.withLock { state -> (Bool, Waiter<Void>?) in
            guard state.end == nil else { return (false, nil) }
            state.elements += elements
            state.weight += weight
            guard state.weight >= capacity else { return (true, nil) }
            let waiter = Waiter<Void>()
            state.senders.append(waiter)
            return (true, waiter)
        }
        guard isOpen else { return }
        arrival.wake()
        guard let waiter, await waiter.wait() == nil else { return }
        state.withLock { state in state.senders.removeAll { $0 === waiter } }
    }

    /// Ends the mailbox, with or without an error. Only the first call counts.
    package func finish(_ failure: Failure? = nil) {
        let senders = state.withLock { state -> [Waiter<Void>] in
            guard state.end == nil else { return [] }
            state.end = failure.map { .failure($0) } ?? .success(())
            return state.takeSenders()
        }
        arrival.wake()
        for sender in senders { sender.resume(()) }
    }

    /// Waits for elements and takes them all. Elements added before the end are returned before it.
    /// - Throws: the error passed to `finish`.
    package func next() async throws(Failure) -> Batch {
        while true {
            let (elements, end, senders) = state.withLock { state in
                let elements = state.elements
                state.elements = []
                state.weight = 0
                return (elements, state.end, state.takeSenders())
            }
            for sender in senders { sender.resume(()) }
            if !elements.isEmpty { return .elements(elements) }
            if let end {
                try end.get()
                return .finished
            }
            if Task.isCancelled { return .cancelled }
            await arrival.wait()
        }
    }
}

/// What became of an element for a queue.
package enum Admission: Sendable {
    case taken
    /// As many wait as may.
    case full
    /// The queue takes no more.
    case closed
}

extension Mailbox where Failure == Never {
    /// Handles each element, until the mailbox is finished and empty. If the task is cancelled, the mailbox takes nothing
    /// more, and what it has taken is handled first.
    package func forEach(_ handle: (Element) -> Void) async {
        while case .elements(let elements) = await next() { elements.forEach(handle) }
        finish()
        while case .elements(let elements) = await next() { elements.forEach(handle) }
    }
}
