import Contract
import Engines
import GatewayKit
import Logging
import MQTT
import Vitals

/// Sends what the outbox and the state board have, for as long as one connection lasts.
struct Publisher: Sendable {
    /// After so many facts one state is let through, so that states are not starved under load.
    private static let factsPerState = 8
    /// How long watermarks gather before they are kept: a commit a second is little work also for a small board, and what a
    /// crash loses of them is only sent again, with the same numbers.
    private static let watermarkDelay: Duration = .seconds(1)

    let outbox: Outbox
    let board: StateBoard
    let status: BrokerStatus
    let store: any GatewayStore
    let wire: WireEncoder
    let wakeup: Wakeup
    let settings: CoreSettings

    /// Sends until the connection breaks.
    func run(on connection: any BrokerConnection) async throws {
        var encoder = wire.encoder
        var sent = 0
        while !Task.isCancelled {
            var rests = false
            while !rests {
                if sent % Self.factsPerState == 0, outbox.hasRoom, let entry = board.next() {
                    try send(entry, on: connection, &encoder)
                }
                sent += 1
                switch outbox.next() {
                case .send(let fact):
                    let message = WireEncoder.encode(
                        fact, info: board.info(of: fact.device), publishedAt: settings.clock.now, isReplay: false,
                        with: &encoder)
                    try publish(message, as: .lane(fact.lane, fact.sequence), on: connection)
                case .sendAnswer(let number, let answer):
                    try publish(wire.encode(answer), as: .lane(.answer, number), on: connection)
                case .page(let lane, let after): await page(lane, after: after)
                case .rest:
                    rests = true
                    while outbox.hasRoom, let entry = board.next() { try send(entry, on: connection, &encoder) }
                }
            }
            await wakeup.wait()
        }
    }

    private func send(
        _ entry: StateBoard.Entry, on connection: any BrokerConnection, _ encoder: inout ContractEncoder
    ) throws {
        let now = settings.clock.now
        let message =
            switch entry {
            case .device(let device, let state):
                OutboundMessage(
                    WireEncoder.encode(state, of: device, info: board.info(of: device), now: now, with: &encoder))
            case .gatewayInfo(let info): OutboundMessage(encoder.gatewayInfo(info))
            case .gatewayState(let state): OutboundMessage(encoder.gatewayState(state))
            case .message(let message): OutboundMessage(message)
            case .replay(let fact):
                WireEncoder.encode(
                    fact, info: board.info(of: fact.device), publishedAt: now, isReplay: true, with: &encoder)
            }
        outbox.sentState()
        try publish(message, as: .state, on: connection)
    }

    /// Hands a message over. One that can never be sent is given up, and said: it would hold up all others for ever.
    private func publish(
        _ message: OutboundMessage, as mark: DeliveryMark, on connection: any BrokerConnection
    ) throws(BrokerError) {
        do throws(BrokerError) {
            try connection.publish(message, as: MessageToken(rawValue: mark.token))
        } catch  where error.code == .invalidMessage {
            settings.logger.error("A message cannot be sent; it is given up.", metadata: ["error": "\(error)"])
            status.dropped()
            outbox.acknowledged([mark])
        }
    }

    private func page(_ lane: Lane, after: Int64) async {
        do throws(StoreError) {
            if lane == .answer {
                outbox.paged(try await store.pendingAnswers(after: after, limit: DeliveryMachine.pageSize))
            } else {
                outbox.paged(lane, try await store.pending(lane, after: after, limit: DeliveryMachine.pageSize))
            }
        } catch {
            settings.logger.error("What waits for the broker cannot be read.", metadata: ["error": "\(error)"])
            do { try await settings.clock.sleep(for: .seconds(1)) } catch { return }
            outbox.pageFailed(lane)
        }
    }

    /// Keeps up to where the broker has everything, once a second. What the store does not take is offered again: nothing
    /// more may come in that lane for days, and what counts as unsent until then would be told as lost at last.
    func keepWatermarks(_ due: Wakeup) async {
        var failures = FailureCount()
        while !Task.isCancelled {
            await due.wait()
            repeat {
                do { try await settings.clock.sleep(for: Self.watermarkDelay) } catch { return }
            } while await !keepWatermarks(&failures)
            failures = FailureCount()
        }
    }

    /// Keeps up to where the broker has everything. Returns whether the store took it.
    @discardableResult
    func keepWatermarks(_ failures: inout FailureCount) async -> Bool {
        var isKept = true
        for (lane, through) in outbox.takeWatermarks() {
            do throws(StoreError) { try await store.acknowledge(lane, through: through) } catch {
                isKept = false
                outbox.watermarkFailed(lane)
                if failures.addIsTold() {
                    settings.logger.error(
                        "Acknowledgements cannot be kept; trying again.",
                        metadata: ["error": "\(error)", "failures": "\(failures.count)"])
                }
            }
        }
        return isKept
    }
}
