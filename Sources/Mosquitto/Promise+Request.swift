import Concurrency
import MQTT

extension Promise {
    /// Waits at most `limit` for the result of a request to the broker.
    /// - Throws: the error of the request, `.timedOut` with `message`, or `.cancelled`.
    func value<Success>(
        within limit: Duration, orTimeOut message: String
    ) async throws(BrokerError) -> Success where Value == Result<Success, BrokerError> {
        let reply = await race(against: { try await Task.sleep(for: limit, clock: .continuous) }) {
            (try? await self.wait()) ?? .failure(.cancelled)
        }
        return try (reply ?? .failure(BrokerError(.timedOut, message))).get()
    }
}
