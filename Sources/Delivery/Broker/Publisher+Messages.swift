import Contract
import Logging
import MQTT
import Vitals

/// The messages of an entry, as the broker takes them.
extension Publisher {
    /// The message of an answer; none if it is given up.
    func answerMessages(
        _ number: Int64, _ answer: StoredAnswer, on connection: any BrokerConnection, _ encoder: inout ContractEncoder
    ) -> [Outgoing] {
        let mark = DeliveryMark.entry(.answer, number)
        let uptime = settings.clock.uptime
        var message = OutgoingMessage.answer(
            topic: answer.topic, payload: answer.payload, correlation: answer.correlation)
        let size = message.packetSize(connection.version)
        let (isCondemned, isTooLong) = inFlight.with { machine in
            (
                machine.isCondemned(.answer, number)
                    || machine.isClosed(answer.topic, isChosen: isChosen(answer.topic), at: uptime),
                machine.isTooLong(answer: number, size: size, at: uptime)
            )
        }
        if isCondemned {
            outcomes.giveUp(
                mark, on: answer.topic,
                "The broker cut the connection at an answer to this topic, or did not answer it.")
            return []
        }
        if isTooLong { message = ContractCodec.shortened(message) }
        return [Outgoing(message: message, mark: mark)]
    }

    /// The messages of a fact; none if the broker takes nothing of it.
    func messages(
        of fact: Fact, isReplay: Bool, on connection: any BrokerConnection, _ encoder: inout ContractEncoder
    ) -> [Outgoing] {
        let now = settings.clock.now
        let info = retained.info(of: fact.device)
        let message = ContractCodec.encode(fact, info: info, publishedAt: now, isReplay: isReplay, with: &encoder)
        let (lane, number) = (fact.lane, fact.sequence)
        let (limit, isCondemned, without) = inFlight.with { machine in
            (
                machine.limit(lane, number) ?? .max, !isReplay && machine.isCondemned(lane, number),
                isReplay ? [] : machine.condemned(lane, number)
            )
        }
        let size = message.packetSize(connection.version)
        if size <= limit, without.isEmpty, !isCondemned {
            let mark: DeliveryMark = isReplay ? .replay(number, 0) : .entry(lane, number)
            if isReplay { inFlight.with { $0.beganReplay(number, parts: 1, isRefused: false) } }
            return [Outgoing(message: message, mark: mark, samples: fact.sampleCount)]
        }
        let reason =
            isCondemned || !without.isEmpty
            ? "The broker cuts the connection at it, or does not answer it."
            : "It has \(size) bytes, and the broker takes \(limit)."
        guard !isCondemned, case .measurement(let measurement) = fact.content else {
            refuse(fact, isReplay: isReplay, reason)
            return []
        }
        let parts = ContractCodec.parts(
            of: fact, measurement, info: info, publishedAt: now, isReplay: isReplay,
            maximumPayload: limit == .max ? limit : limit - (size - message.payload.count), without: without,
            with: &encoder)
        guard !parts.messages.isEmpty else {
            refuse(fact, isReplay: isReplay, reason)
            return []
        }
        inFlight.with { machine in
            if isReplay {
                machine.beganReplay(number, parts: parts.messages.count, isRefused: !parts.refused.isEmpty)
            } else {
                machine.began(
                    lane, number, parts: parts.messages.map(\.samples), refused: parts.refused, reason: reason)
            }
        }
        return parts.messages.enumerated().map { index, part in
            Outgoing(
                message: part.message, mark: isReplay ? .replay(number, index) : .part(lane, number, index),
                samples: part.samples.count)
        }
    }

    /// Quarantines a fact that is not sent. One that is sent again is quarantined already.
    private func refuse(_ fact: Fact, isReplay: Bool, _ reason: String) {
        guard isReplay else {
            return outcomes.quarantine.add(RefusedFact(lane: fact.lane, number: fact.sequence, reason: reason))
        }
        settings.logger.error(
            "A stored message cannot be sent again.", metadata: ["number": "\(fact.sequence)", "reason": "\(reason)"])
        status.dropped()
    }
}

extension Fact {
    /// The samples of a measurement; 1 for anything else.
    fileprivate var sampleCount: Int {
        if case .measurement(let measurement) = content { measurement.samples.count } else { 1 }
    }
}
