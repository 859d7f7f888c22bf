import GatewayKit
import Logging
import Vitals

/// A link to a ring: what is read when it opens, and what the ring sends.
final class RingConnection: Sendable {
    let conversation: GATTConversation
    let queue: RingRequestQueue
    let clock: RingClock
    let measurement: RingMeasurement
    let monitoring: RingMonitoring
    let history: RingHistory
    private let characteristics: RingCharacteristics
    private let context: SessionContext

    init(_ link: any GATTLink, _ zone: RingZone, _ context: SessionContext) throws(DeviceError) {
        self.context = context
        conversation = GATTConversation(over: link, with: "ring")
        characteristics = try RingCharacteristics(link)
        queue = RingRequestQueue(link, characteristics, clock: context.clock)
        clock = RingClock(queue, zone, clock: context.clock)
        measurement = RingMeasurement(queue, conversation.inbox, clock: context.clock)
        monitoring = RingMonitoring(queue)
        history = RingHistory(queue, clock, zone)
    }

    /// Sets the ring's clock, and finds out what it is and can do.
    func open() async throws(DeviceError) -> DeviceDescription {
        try await conversation.subscribe(to: [characteristics.replies, characteristics.messages].compactMap { $0 })
        try await clock.set(to: context.clock.now)
        try await readBattery()
        var metrics: [Metric: Abilities] = [
            .heartRate: [.history, .measure], .bloodOxygen: .measure, .stress: .history, .steps: .history, .battery: [],
        ]
        if characteristics.messages != nil {
            metrics[.bloodOxygen] = [.history, .measure]
            metrics[.sleep] = .history
        }
        for metric in RingMonitoring.metrics {
            guard try await hasSetting(of: metric) else { continue }
            metrics[metric, default: []].insert(.monitor)
            if metric == .heartRate { metrics[metric, default: []].insert(.scheduleInterval) }
            // The setting shows that the ring has a thermometer.
            if metric == .skinTemperature, characteristics.messages != nil { metrics[metric]?.insert(.history) }
        }
        return DeviceDescription(
            identity: try await identity(),
            capabilities: Capabilities(metrics, maximumHistoryDays: RingHistory.days - 1), overlaps: .lastReported)
    }

    /// Asks for the charge. The answer also shows that the ring is in reach.
    func readBattery() async throws(DeviceError) {
        let reply = try await queue.ask(RingPacket(RingRequest.battery), for: PacketReply(RingRequest.battery))
        if let packet = reply.packet { await conversation.inbox.send([Self.battery(packet.data[0], packet.data[1])]) }
    }

    /// Receives until the link ends; then the events and all calls end, too.
    func receive() async {
        await conversation.receive { value in
            do throws(FormatError) { try await receive(value) } catch {
                let problem = "The ring sent something unreadable: \(error.problem)."
                await conversation.inbox.send([.malformed(problem)])
            }
        } closing: { error in
            await queue.requests.close(error)
            await measurement.close(error)
        }
    }

    private func receive(_ value: GATTValue) async throws(FormatError) {
        if value.characteristic == characteristics.messages {
            try await queue.receive(piece: value.bytes)
            return
        }
        let packet = try RingPacket(value.bytes)
        // Before the reply is complete: the first answer to a start may already be a value, or why there is none.
        await measurement.receive(packet)
        if await queue.requests.receive(.packet(packet)) { return }
        if packet.command == RingRequest.notification, packet.data[0] == Self.batteryChanged {
            await conversation.inbox.send([Self.battery(packet.data[1], packet.data[2])])
        }
    }

    /// The ring reports the charge when it changes. Its other notices say that its history has something new.
    private static let batteryChanged: UInt8 = 0x0c

    private static func battery(_ percent: UInt8, _ charging: UInt8) -> DeviceEvent {
        guard percent <= 100 else {
            return .unreadable(UnreadableSample(metric: .battery, problem: "a charge of \(percent) %"))
        }
        return .battery(percent: Double(percent), isCharging: charging != 0)
    }

    private func hasSetting(of metric: Metric) async throws(DeviceError) -> Bool {
        do {
            _ = try await monitoring.configuration(of: metric, timeout: RingMonitoring.timeout, attempts: 1)
            return true
        } catch {
            if error.code == .disconnected { throw error }
            context.logger.info(
                "The ring has no such setting.", metadata: ["metric": "\(metric.rawValue)", "error": "\(error)"])
            return false
        }
    }

    /// The versions, of which the protocol itself says nothing.
    private func identity() async throws(DeviceError) -> DeviceIdentity {
        do throws(GATTError) {
            return DeviceIdentity(
                firmware: try await conversation.text(DeviceInformation.firmware),
                hardware: try await conversation.text(DeviceInformation.hardware))
        } catch { throw DeviceError(error, "The device information") }
    }
}
