package import Concurrency
package import Vitals

/// Where a device's engines report what consumers should know.
package struct DeviceOutput: Sendable {
    /// Reports a changed part of the state. Returns at once.
    package var state: @Sendable (DeviceID, DeviceState) -> Void
    /// Answers a command, with `accepted` or finally.
    package var answer: @Sendable (_ key: String, Answer) async -> Void

    /// Reports that a connection has to end; the promise is fulfilled when it has. Returns at once.
    package var ending: @Sendable (DeviceID, Promise<Void>) -> Void

    package init(
        state: @escaping @Sendable (DeviceID, DeviceState) -> Void,
        answer: @escaping @Sendable (_ key: String, Answer) async -> Void,
        ending: @escaping @Sendable (DeviceID, Promise<Void>) -> Void = { _, _ in }
    ) {
        self.state = state
        self.answer = answer
        self.ending = ending
    }
}
