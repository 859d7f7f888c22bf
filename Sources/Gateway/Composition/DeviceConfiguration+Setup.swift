import Engines
import GatewayKit
import Logging
import Recordings
import Vitals

extension GatewayConfiguration {
    /// The devices.
    func setups(_ settings: CoreSettings, _ budget: DescriptorBudget) -> [DeviceSetup] {
        budget.check(self, logger: settings.logger)
        budget.keepRoom(for: linkDescriptors.max() ?? 0)
        settings.scanners.replace(with: scanners.map { $0.setup(settings, budget) }, drivers: drivers)
        let shared = Dictionary(uniqueKeysWithValues: services.map { ($0.name, $0.setup(settings, budget)) })
        return devices.map { $0.setup(settings, budget, services: $0.serviceNames.compactMap { shared[$0] }) }
    }

    /// The configuration that `read` reads on a reload.
    /// - Throws: `ReloadRefusal` if it has errors, or changes something that needs a restart.
    func changed(
        by read: () throws(ConfigurationError) -> GatewayConfiguration
    ) throws(ReloadRefusal) -> GatewayConfiguration {
        let other: GatewayConfiguration
        do throws(ConfigurationError) { other = try read() } catch { throw ReloadRefusal(error) }
        let parts = sectionsThatNeedRestart(comparedWith: other)
        guard parts.isEmpty else { throw ReloadRefusal(parts: parts) }
        return other
    }
}

extension ReloadRefusal {
    /// The configuration has errors.
    init(_ error: ConfigurationError) {
        let first = error.issues.first?.text(file: nil) ?? ""
        let more = error.issues.count - 1
        self.init(
            more > 0 ? "\(first) (and \(more) more)" : first,
            violations: error.issues.map { issue in
                let line = issue.line > 0 ? "line \(issue.line)" : nil
                let place = [issue.file, line].compactMap(\.self).joined(separator: ", ")
                return Violation(path: issue.path, message: (place.isEmpty ? "" : place + ": ") + issue.message)
            })
    }

    /// The change affects parts of the configuration that are only read at the start. The devices stay unchanged, too.
    init(parts: [String]) {
        self.init(
            "A change of \(parts.joined(separator: ", ")) needs a restart of the gateway.",
            violations: parts.map { Violation(path: $0, message: "is only read at the start: restart the gateway") })
    }
}

extension DeviceConfiguration {
    /// The device as the core runs it: its driver over its transport. Both outlive the sessions, so a driver can keep
    /// the state that its device keeps.
    func setup(_ settings: CoreSettings, _ budget: DescriptorBudget, services: [ServiceSetup]) -> DeviceSetup {
        var logger = settings.logger
        logger[metadataKey: "device.id"] = "\(info.id)"
        var session = SessionContext(
            device: info.id, gateway: (name: "vitals2mqtt", version: settings.version), calendar: settings.calendar,
            clock: settings.clock, logger: logger, services: settings.services)
        let presence = DevicePresence()
        var link = LinkContext(device: info.id, logger: logger, services: settings.services, presence: presence)
        link.clock = settings.clock
        link.senders = settings.senders
        session.documents = link.documents
        let (driver, transport) = (driver, transport)
        link.kind = type(of: driver).link
        if let driver = driver as? any WorkingDriver, driver.mayHaveWork {
            link.work = { [session] in await driver.waitForWork(context: session) }
        }
        let (recorder, mask, passing) = (settings.recorder, mask, settings.passing)
        if recorder != nil, let reason = reasonWithoutRecording {
            logger.warning("The device is not recorded: \(reason).")
        }
        // A device begins again with its services.
        var hasher = Hasher()
        hasher.combine(fingerprint)
        hasher.combine(services.map(\.fingerprint))
        var messages = DocumentMessages(
            topics: transport?.topics ?? [], documents: link.documents, presence: presence, clock: settings.clock,
            logger: logger, owner: info.id.text)
        if let reader = self.messages { messages.share(reader) }
        return DeviceSetup(
            info: info, policy: policy, fingerprint: hasher.finalize(), services: services, presence: presence,
            notes: session.notes, passkeys: info.asksForPasskey ? link.passkeys : nil,
            messages: messages.isEmpty ? nil : messages
        ) { [link, session] body in
            guard let transport else { return try await driver.withSession(over: .none, context: session, body) }
            let type = type(of: transport)
            try await budget.with(type.descriptors) {
                try await passing.during(LivenessProbe(.transport(type.name), ask: type.answer)) {
                    try await transport.withLink(context: link) { link in
                        guard let recorder else {
                            return try await driver.withSession(over: link, context: session, body)
                        }
                        let name = Swift.type(of: driver).name
                        try await recorder.recording(link, of: session.device, driver: name, mask: mask) { link in
                            try await driver.withSession(over: link, context: session, body)
                        }
                    }
                }
            }
        }
    }
}

extension ServiceConfiguration {
    /// The service as the core keeps it open.
    func setup(_ settings: CoreSettings, _ budget: DescriptorBudget) -> ServiceSetup {
        var logger = settings.logger
        logger[metadataKey: "plugin"] = "\(name)"
        let context = ServiceContext(clock: settings.clock, logger: logger)
        let service = service
        return ServiceSetup(name: name, service: service, fingerprint: fingerprint) { body in
            try await budget.with(type(of: service).descriptors) {
                try await service.withService(context: context, body)
            }
        }
    }
}
