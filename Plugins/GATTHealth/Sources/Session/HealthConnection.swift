import Concurrency
import GatewayKit
import Logging
import Vitals

/// A link to a device with services of the Bluetooth SIG: what is read when it opens, and what the device sends.
final class HealthConnection: Sendable {
    let conversation: GATTConversation
    let device: HealthDevice
    let clock: DeviceClockAccess
    let glucoseRecords: RecordReader?
    let oximeterRecords: RecordReader?
    let interval: ThermometerInterval?
    private let options: HealthOptions
    private let context: SessionContext
    /// Where the thermometer measures, if that is the same for all values.
    private let site: TemperatureType?
    /// How the device bends its profile; `nil` if it follows it.
    private let quirk: Quirk?
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
        let conversation = GATTConversation(over: link, with: "device")
        self.conversation = conversation
        self.device = device
        self.options = options
        self.context = context
        clock = DeviceClockAccess(link: link, device: device, calendar: context.calendar)
        glucoseRecords = device.glucoseRecords.map {
            let profile = GlucoseProfile(calendar: context.calendar)
            return RecordReader(
                link, control: $0, GlucoseRecords(profile), clock: context.clock, reporting: conversation.inbox)
        }
        oximeterRecords = device.oximeterRecords.map {
            let profile = OximeterProfile(calendar: context.calendar)
            return RecordReader(
                link, control: $0, OximeterRecords(profile), clock: context.clock, reporting: conversation.inbox)
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
        var quirk = Quirk.row(name: link.name, services: link.services)
        if quirk == nil, Quirk.dependsOnModel(link.services) {
            // Before the first value. A link that is over has values, too: they are those of the model that is known.
            let model: String?
            do { model = try await conversation.text(DeviceInformation.model) } catch {
                model = await KnownDevice(context.notes).identity.model
            }
            quirk = Quirk.row(model: model, services: link.services)
        }
        self.quirk = quirk
        if let quirk { context.logger.info("The device bends its profile.", metadata: ["quirk": "\(quirk.device)"]) }
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
            do { try await conversation.link.subscribe(to: source) } catch .refused where source == device.battery {
                // It is not what the device is for.
            } catch {
                throw DeviceError(
                    error, "The values of \(source.uuid.short.map { "0x" + String($0, radix: 16) } ?? "")")
            }
        }
        do {
            if let bytes = try await conversation.readIfPermitted(device.battery) {
                await conversation.inbox.send(HealthProfiles.battery(bytes))
            }
            let identity = try await conversation.identity()
            var shown: DeviceClock?
            do { shown = try await clock.read() } catch .refused {}
            let features = ScaleFeatures(
                device, weight: try await conversation.readIfPermitted(device.weightFeature),
                composition: try await conversation.readIfPermitted(device.compositionFeature), quirk: quirk)
            await remember(identity, features)
            return description(identity, features, clock: shown)
        } catch {
            throw DeviceError(error, "The device information")
        }
    }

    /// The description of a device that could not be opened, with what was known of it before; `nil` if it has sent no sample.
    ///
    /// Call it when `receive` is cancelled: it takes what the link still has. The events and all calls then end with the error.
    func descriptionOfRest(after error: DeviceError) async -> DeviceDescription? {
        guard await hasReceived.waitUncancelled() else { return nil }
        conversation.inbox.finish(error)
        await closeRecords(error)
        context.logger.info(
            "The device could not be opened; what it has sent is kept.", metadata: ["error": "\(error)"])
        let known = await KnownDevice(context.notes)
        let features = known.features ?? ScaleFeatures(device, weight: nil, composition: nil, quirk: quirk)
        return description(known.identity, features, clock: nil)
    }

    private func description(
        _ identity: DeviceIdentity, _ features: ScaleFeatures, clock: DeviceClock?
    ) -> DeviceDescription {
        DeviceDescription(
            identity: identity,
            capabilities: device.capabilities(site: site, hasVariability: options.hasVariability, scale: features),
            clock: clock)
    }

    private func remember(_ identity: DeviceIdentity, _ features: ScaleFeatures) async {
        do throws(DeviceError) {
            let known = KnownDevice(identity: identity, site: site, features: features.isEmpty ? nil : features)
            try await known.save(in: context.notes)
        } catch {
            context.logger.debug("The device's names cannot be kept.", metadata: ["error": "\(error)"])
        }
    }

    /// Receives until the link ends; then the events and all calls end, too. When the task is cancelled, it takes what waits.
    func receive() async {
        var profiles = HealthProfiles(device, options, calendar: context.calendar, site: site, quirk: quirk)
        var hasSamples = false
        defer { hasReceived.fulfil(hasSamples) }
        await conversation.receive { value in
            if await isRecord(value) { return }
            let events = profiles.events(of: value, at: context.clock.now)
            if events.contains(where: \.tellsOfSample) { hasSamples = true }
            if !events.isEmpty { await conversation.inbox.send(events) }
        } closing: { error in
            await closeRecords(error)
        }
    }

    private func closeRecords(_ error: DeviceError) async {
        await glucoseRecords?.close(error)
        await oximeterRecords?.close(error)
    }

    private func isRecord(_ value: GATTValue) async -> Bool {
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
            let service = GATTLocalService(uuid: Assigned.currentTimeService, characteristics: [time, zone])
            try await conversation.link.serve([service])
        } catch .refused(let refusal) {
            context.logger.info("The time is not offered to the device.", metadata: ["error": "\(refusal)"])
        } catch {
            throw DeviceError(error, "The time for the device")
        }
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

/// What a device said about itself in an earlier session, kept as notes: a link that ends early leaves no time to ask again.
struct KnownDevice: Sendable, Hashable {
    var identity = DeviceIdentity()
    /// Where the thermometer measures, if that is the same for all values.
    var site: TemperatureType?
    /// What the scale can send.
    var features: ScaleFeatures?

    private static var texts: [(name: String, path: WritableKeyPath<DeviceIdentity, String?>)] {
        [
            ("manufacturer", \.manufacturer), ("model", \.model), ("serial", \.serial), ("firmware", \.firmware),
            ("hardware", \.hardware),
        ]
    }
    private static let siteName = "site"
    private static let featuresName = "scale"

    init(identity: DeviceIdentity, site: TemperatureType?, features: ScaleFeatures?) {
        (self.identity, self.site, self.features) = (identity, site, features)
    }

    /// Reads the notes. Without them nothing is known.
    init(_ notes: DeviceNotes) async {
        guard let all = try? await notes.all() else { return }
        for (name, path) in Self.texts {
            identity[keyPath: path] = all[name].map { String(decoding: $0, as: UTF8.self) }
        }
        site = all[Self.siteName]?.first.flatMap { TemperatureType(rawValue: $0) }
        features = all[Self.featuresName]?.first.map { ScaleFeatures(rawValue: $0) }
    }

    /// Keeps it, if it is new.
    func save(in notes: DeviceNotes) async throws(DeviceError) {
        guard await KnownDevice(notes) != self else { return }
        var changes: [String: [UInt8]?] = [
            Self.siteName: site.map { [$0.rawValue] }, Self.featuresName: features.map { [$0.rawValue] },
        ]
        for (name, path) in Self.texts { changes[name] = .some(identity[keyPath: path].map { Array($0.utf8) }) }
        try await notes.save(changes)
    }
}
