import Concurrency
import GatewayKit
import Logging
import Vitals

/// A link to a device with services of the Bluetooth SIG: what is read when it opens, and what the device sends.
final class HealthConnection: Sendable {
    let link: any GATTLink
    let device: HealthDevice
    let inbox = EventInbox()
    let clock: DeviceClockAccess
    let glucoseRecords: RecordReader?
    let oximeterRecords: RecordReader?
    let interval: ThermometerInterval?
    private let options: HealthOptions
    private let context: SessionContext
    /// Where the thermometer measures, if that is the same for all values.
    private let site: TemperatureType?
    /// Whether a value of the device has become a sample, or one that is refused; fulfilled when nothing more is received.
    private let hasReceived = Promise<Bool>()

    /// Finds the services of a device.
    /// - Throws: `failure` if it has none that this driver knows; else what reading failed with.
    init(_ link: any GATTLink, _ options: HealthOptions, _ context: SessionContext) async throws(DeviceError) {
        let device = HealthDevice(link)
        guard device.isKnown else {
            let found = link.services.map { $0.uuid.short.map { "0x" + String($0, radix: 16) } ?? $0.uuid.description }
            throw DeviceError(
                .failure,
                "The device measures nothing by the health services of the Bluetooth SIG; it has "
                    + (found.isEmpty ? "no services." : "\(found.joined(separator: ", ")). Another driver may know it.")
            )
        }
        self.link = link
        self.device = device
        self.options = options
        self.context = context
        clock = DeviceClockAccess(link: link, device: device, calendar: context.calendar)
        glucoseRecords = device.glucoseRecords.map {
            let profile = GlucoseProfile(calendar: context.calendar)
            return RecordReader(link, control: $0, GlucoseRecords(profile), clock: context.clock)
        }
        oximeterRecords = device.oximeterRecords.map {
            let profile = OximeterProfile(calendar: context.calendar)
            return RecordReader(link, control: $0, OximeterRecords(profile), clock: context.clock)
        }
        var site: TemperatureType?
        if let type = device.temperatureType {
            do throws(GATTError) {
                site = try await link.read(type).first.flatMap { TemperatureType(rawValue: $0) }
            } catch {
                if case .link = error {
                    site = await KnownDevice(context.notes).site
                    if site == nil { throw DeviceError(error, "The temperature type") }
                }
            }
        }
        self.site = site
        interval = device.measurementInterval.flatMap { characteristic in
            guard characteristic.properties.contains(.write) else { return nil }
            return ThermometerInterval(
                link, characteristic, of: site?.isSkin == true ? .skinTemperature : .temperature)
        }
    }

    /// Subscribes to everything that the device sends, and then reads what it says about itself: a cuff that has woken up to send its
    /// records sleeps again soon.
    func open() async throws(DeviceError) -> DeviceDescription {
        if device.hasRecords { try await serveTime() }
        for source in device.sources {
            do { try await link.subscribe(to: source) } catch .refused where source == device.battery {
                // It is not what the device is for.
            } catch {
                throw DeviceError(
                    error, "The values of \(source.uuid.short.map { "0x" + String($0, radix: 16) } ?? "")")
            }
        }
        do {
            if let battery = device.battery, let bytes = try await optional(battery) {
                await inbox.send(HealthProfiles.battery(bytes))
            }
            let identity = try await identity()
            var shown: DeviceClock?
            do { shown = try await clock.read() } catch .refused {}
            await remember(identity)
            return description(identity, clock: shown)
        } catch {
            throw DeviceError(error, "The device information")
        }
    }

    /// The description of a device that could not be opened, with what was known of it before; `nil` if it has sent no sample.
    ///
    /// Call it when `receive` is cancelled: it takes what the link still has. The events and all calls then end with the error.
    func descriptionOfRest(after error: DeviceError) async -> DeviceDescription? {
        guard await hasReceived.waitUncancelled() else { return nil }
        await close(error)
        context.logger.info(
            "The device could not be opened; what it has sent is kept.", metadata: ["error": "\(error)"])
        return description(await KnownDevice(context.notes).identity, clock: nil)
    }

    private func description(_ identity: DeviceIdentity, clock: DeviceClock?) -> DeviceDescription {
        DeviceDescription(
            identity: identity,
            capabilities: device.capabilities(site: site, hasVariability: options.hasVariability), clock: clock)
    }

    private func remember(_ identity: DeviceIdentity) async {
        do throws(DeviceError) {
            try await KnownDevice(identity: identity, site: site).save(in: context.notes)
        } catch {
            context.logger.debug("The device's names cannot be kept.", metadata: ["error": "\(error)"])
        }
    }

    /// Receives until the link ends; then the events and all calls end, too. When the task is cancelled, it takes what waits.
    func receive() async {
        var profiles = HealthProfiles(device, options, calendar: context.calendar, site: site)
        var hasSamples = false
        defer { hasReceived.fulfil(hasSamples) }
        do throws(LinkError) {
            while let value = try await link.nextValue() {
                if try await isRecord(value) { continue }
                let events = profiles.events(of: value, at: context.clock.now)
                if events.contains(where: \.tellsOfSample) { hasSamples = true }
                if !events.isEmpty { await inbox.send(events) }
            }
            await close(DeviceError(.disconnected, "The device ended the connection."))
        } catch {
            // After a cancellation, the canceller ends what waits.
            if error.code != .cancelled { await close(DeviceError(.link(error), "The connection")) }
        }
    }

    private func close(_ error: DeviceError) async {
        inbox.finish(error)
        await glucoseRecords?.close(error)
        await oximeterRecords?.close(error)
    }

    private func isRecord(_ value: GATTValue) async throws(LinkError) -> Bool {
        switch value.characteristic {
        case device.glucose, device.glucoseContext, device.glucoseRecords:
            // Without a request a meter sends nothing.
            _ = await glucoseRecords?.receive(value)
            return true
        case device.spotCheck, device.oximeterRecords: return await oximeterRecords?.receive(value) ?? false
        default: return false
        }
    }

    /// Offers the time to the device: some cuffs read it from the gateway.
    private func serveTime() async throws(DeviceError) {
        let (now, calendar) = (context.clock, context.calendar)
        let time = GATTLocalCharacteristic(uuid: Assigned.currentTime) {
            CurrentTime(now.now, offset: calendar.offset(at: now.now).seconds / 60).bytes
        }
        let zone = GATTLocalCharacteristic(uuid: Assigned.localTime) {
            LocalTimeInformation(offset: calendar.offset(at: now.now).seconds / 60).bytes ?? [0x80, 0xff]
        }
        do {
            try await link.serve([GATTLocalService(uuid: Assigned.currentTimeService, characteristics: [time, zone])])
        } catch .refused(let refusal) {
            context.logger.info("The time is not offered to the device.", metadata: ["error": "\(refusal)"])
        } catch {
            throw DeviceError(error, "The time for the device")
        }
    }

    private func identity() async throws(GATTError) -> DeviceIdentity {
        DeviceIdentity(
            manufacturer: try await text(Assigned.manufacturerName), model: try await text(Assigned.modelNumber),
            serial: try await text(Assigned.serialNumber), firmware: try await text(Assigned.firmwareRevision),
            hardware: try await text(Assigned.hardwareRevision))
    }

    /// A text of the Device Information Service; `nil` if the device has none, or does not send it.
    private func text(_ uuid: BluetoothUUID) async throws(GATTError) -> String? {
        guard let characteristic = link.characteristic(uuid, in: Assigned.informationService),
            let bytes = try await optional(characteristic)
        else { return nil }
        let scalars = String(decoding: bytes, as: UTF8.self).unicodeScalars
            .filter { $0.properties.generalCategory != .control }
        let text = String(String.UnicodeScalarView(scalars)).trimmed
        return text.isEmpty ? nil : text
    }

    /// A value that a device may keep for itself; `nil` if it does.
    private func optional(_ characteristic: GATTCharacteristic) async throws(GATTError) -> [UInt8]? {
        guard characteristic.properties.contains(.read) else { return nil }
        do { return try await link.read(characteristic) } catch .refused { return nil }
    }
}

extension DeviceEvent {
    /// Whether it is one of a sample, also of one that is refused.
    fileprivate var tellsOfSample: Bool {
        switch self {
        case .samples, .unreadable: true
        default: false
        }
    }
}

extension String {
    /// The text without spaces at both ends.
    fileprivate var trimmed: String {
        let tail = drop { $0 == " " }
        return String(tail.reversed().drop { $0 == " " }.reversed())
    }
}
