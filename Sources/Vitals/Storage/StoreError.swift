/// Why the store could not carry out a request.
package struct StoreError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: String, Sendable, Hashable {
        /// The disk is full. Nothing was changed; a later attempt may succeed.
        case full
        /// The file cannot be read or written. Nothing was changed.
        case unavailable
        /// The file is damaged.
        case corrupt
        /// Too many answers wait for the broker: this one is not stored.
        case answersWait
        /// The store is closed.
        case closed
    }
    package var code: Code
    package var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}
