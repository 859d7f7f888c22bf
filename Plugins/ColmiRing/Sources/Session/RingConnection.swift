import GatewayKit
import Logging
import Vitals

/// A link to a ring: what is read when it opens, and what the ring sends.
final class RingConnection: Sendable {
    let link: any GATTLink
    let queue: RingRequestQueue
    let inbox = EventInbox()
    let clock: RingClock
    let measurement: RingMeasurement
    let monitoring: RingMonitoring
    let history: RingHistory
    private let characteristics: RingCharacteristics
    private let context: SessionContext

    init(_ link: any GATTLink, _ zone: RingZone, _ context: SessionContext) throws(DeviceError) {
        self.link = link
        self.context = context
        characteristics = try RingCharacteristics(link)
        queue = RingRequestQueue(link, characteristics, clock: context.clock)
        clock = RingClock(queue, zone, clock: context.clock)
        measurement = RingMeasurement(queue, inbox, clock: context.clock)
        monitoring = RingMonitoring(queue)
        history = RingHistory(queue, clock, zone)
    }

    /// Sets the ring's clock, and finds out what it is and can do.
    func open() async throws(DeviceError) -> DeviceDescription {
        do {
            try await link.subscribe(to: characteristics.replies)
            if let messages = characteristics.messages { try await link.subscribe(to: messages) }
        } catch { throw DeviceError(error, "The ring's answers") }
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
        let identity = DeviceIdentity(
            firmware: try await text(RingCharacteristics.firmware),
            hardware: try await text(RingCharacteristics.hardware))
        return DeviceDescription(
            identity: identity, capabilities: Capabilities(metrics, maximumHistoryDays: RingHistory.days - 1),
            overlaps: .lastReported)
    }

    /// Asks for the charge. The answer also shows that the ring is in reach.
    func readBattery() async throws(DeviceError) {
        let reply = try await queue.ask(RingPacket(RingRequest.battery), for: PacketReply(RingRequest.battery))
        if let packet = reply.packet { await inbox.send([Self.battery(packet.data[0], packet.data[1])]) }
    }

    /// Receives until the link ends; then the events and all calls end, too.
    func receive() async {
        do throws(LinkError) {
            while let value = try await link.nextValue() {
                do throws(FormatError) { try await receive(value) } catch {
                    await inbox.send([.malformed("The ring sent something unreadable: \(error.problem).")])
                }
            }
            await close(DeviceError(.disconnected, "The ring ended the connection."))
        } catch {
            await close(DeviceError(.link(error), "The connection"))
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
        if await queue.receive(packet) { return }
        if packet.command == RingRequest.notification, packet.data[0] == Self.batteryChanged {
            await inbox.send([Self.battery(packet.data[1], packet.data[2])])
        }
    }

    private func close(_ error: DeviceError) async {
        await queue.close(error)
        await measurement.close(error)
        inbox.finish(error)
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

    private func text(_ uuid: BluetoothUUID) async throws(DeviceError) -> String? {
        guard let characteristic = link.characteristic(uuid, in: RingCharacteristics.information),
            characteristic.properties.contains(.read)
        else { return nil }
        do {
            let scalars = String(decoding: try await link.read(characteristic), as: UTF8.self).unicodeScalars
                .filter { $0.properties.generalCategory != .control }
            let text = String(String.UnicodeScalarView(scalars))
            return text.isEmpty ? nil : text
        } catch .refused { return nil } catch { throw DeviceError(error, "The device information") }
    }
}
