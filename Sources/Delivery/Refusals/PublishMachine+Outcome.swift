import Vitals

extension PublishMachine {
    /// The outcome of a message.
    enum Outcome: Sendable, Hashable {
        /// The broker has all of an entry of the outbox.
        case delivered(Lane, Int64)
        /// There is room for one message more.
        case room
        /// The broker has all of a fact that was sent again.
        case replayed(Int64)
        /// The fact is not taken, and all of its messages are answered.
        case quarantine(RefusedFact)
        /// An answer or a state is given up.
        case givenUp(DeliveryMark)
        /// The broker takes nothing of ours: the fact keeps its place until the connection has held for a while.
        case held
        /// The connection must end: the message is sent again, later or in smaller parts.
        case reconnect
    }
}
