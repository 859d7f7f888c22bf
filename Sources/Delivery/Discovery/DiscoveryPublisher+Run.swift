import Concurrency
package import MQTT
package import Vitals

extension DiscoveryPublisher {
    /// Handles a message about discovery: a start of Home Assistant, or an outdated announcement of an earlier run.
    /// Returns whether the message is about discovery.
    package func receive(_ message: InboundMessage) -> Bool {
        if message.topic == settings.birthTopic {
            if message.payload == Array("online".utf8) { homeAssistantStarts.wake() }
            return true
        }
        guard settings.covers(message.topic) else { return false }
        if settings.isStale(topic: message.topic, payload: message.payload, current: topics) { found(message.topic) }
        return true
    }

    /// Withdraws announcements of earlier runs, then announces the devices; runs until the task is cancelled.
    package func run(clock: GatewayClock, devices: @Sendable () async -> [DeviceID]) async {
        while !Task.isCancelled {
            await sweeps.wait()
            do {
                try await clock.sleep(for: Self.settling)
                if migrate(devices: await devices()) {
                    try await clock.sleep(for: Self.settling)
                    emptyMigrated()
                }
                announceDue()
                try await clock.sleep(for: Self.settling)
            } catch { return }
            emptyOutdated()
        }
    }

    /// Announces everything again after each start of Home Assistant, until the task is cancelled.
    package func followHomeAssistant(clock: GatewayClock) async {
        while !Task.isCancelled {
            await homeAssistantStarts.wait()
            await publishAgain(clock)
        }
    }
}
