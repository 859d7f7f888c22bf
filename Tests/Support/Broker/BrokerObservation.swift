import MQTT
import Vitals

/// Records every message on the topics of a filter, from its creation on.
package final class BrokerObservation: Sendable {
    private let filter: TopicFilter
    private let recorder = Recorder<PublishedMessage>()

    init(filter: TopicFilter) { self.filter = filter }

    /// What was published so far, in order.
    package var messages: [PublishedMessage] { recorder.elements }

    /// Returns the messages as soon as they fulfil `condition`.
    /// - Throws: `CancellationError` when the task is cancelled meanwhile.
    @discardableResult
    package func wait(
        until condition: @escaping @Sendable ([PublishedMessage]) -> Bool
    ) async throws -> [PublishedMessage] {
        try await recorder.wait(until: condition)
    }

    func record(_ message: PublishedMessage) {
        if filter.matches(message.message.topic) { recorder.append(message) }
    }
}
