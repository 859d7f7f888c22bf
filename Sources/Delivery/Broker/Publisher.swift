import Concurrency
import Contract
import Logging
import MQTT
import Messages
import StoreAPI
import Vitals

/// Sends the outbox and the retained states on one connection.
struct Publisher: Sendable {
    /// Facts between two states under load, so that facts do not starve states.
    private static let factsPerState = 8

    let outbox: Outbox
    let retained: RetainedStates
    let status: BrokerStatus
    let store: any OutboxStore
    let codec: ContractCodec
    let settings: DeliverySettings

    /// Sends until the connection breaks.
    func run(on connection: any BrokerConnection) async throws {
        var encoder = codec.encoder
        var sent = 0
        defer { status.sending.end() }
        while !Task.isCancelled {
            status.sending.begin()
            var rests = false
            while !rests {
                status.sending.turn()
                if sent % Self.factsPerState == 0, outbox.hasRoom, let entry = retained.next() {
                    try send(entry, on: connection, &encoder)
                }
                sent += 1
                switch outbox.next() {
                case .send(let entry):
                    let message = codec.encode(
                        entry, info: entry.fact.flatMap { retained.info(of: $0.device) },
                        publishedAt: settings.clock.now, with: &encoder)
                    try publish(message, as: .entry(entry.lane, entry.number), on: connection)
                case .page(let lane, let after): await page(lane, after: after)
                case .rest:
                    rests = true
                    while outbox.hasRoom, let entry = retained.next() { try send(entry, on: connection, &encoder) }
                }
            }
            status.sending.end()
            await outbox.wakeup.wait()
        }
    }

    private func send(
        _ entry: RetainedStates.Entry, on connection: any BrokerConnection, _ encoder: inout ContractEncoder
    ) throws {
        let now = settings.clock.now
        let message =
            switch entry {
            case .device(let device, let state):
                ContractCodec.encode(state, of: device, info: retained.info(of: device), now: now, with: &encoder)
            case .gatewayInfo(let info): encoder.gatewayInfo(info)
            case .gatewayState(let state): encoder.gatewayState(state)
            case .message(let message): message
            case .replay(let fact):
                ContractCodec.encode(
                    fact, info: retained.info(of: fact.device), publishedAt: now, isReplay: true, with: &encoder)
            }
        outbox.sentState()
        try publish(message, as: .state, on: connection)
    }

    /// Hands a message over. Drops and logs a message that can never be sent: it would block all others for ever.
    private func publish(
        _ message: OutgoingMessage, as mark: DeliveryMark, on connection: any BrokerConnection
    ) throws(BrokerError) {
        do throws(BrokerError) {
            try connection.publish(message, as: MessageToken(rawValue: mark.token))
        } catch  where error.code == .invalidMessage {
            settings.logger.error("A message cannot be sent; it is dropped.", metadata: ["error": "\(error)"])
            status.dropped()
            outbox.acknowledged([mark])
        }
    }

    private func page(_ lane: Lane, after: Int64) async {
        do throws(StoreError) {
            outbox.paged(lane, try await store.pending(lane, after: after, limit: DeliveryMachine.pageSize))
        } catch {
            settings.logger.error("The outbox cannot be read; trying again.", metadata: ["error": "\(error)"])
            do { try await settings.clock.sleep(for: .seconds(1)) } catch { return }
            outbox.pageFailed(lane)
        }
    }
}
