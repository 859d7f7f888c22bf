import GatewayKit
import Logging
import Vitals

extension DeviceAgent {
    /// Reads the device's monitoring (of all monitored metrics where none is named), and writes what is pending.
    /// - Throws: what went wrong with the first metric that could not be read, after all others were.
    func refreshMonitoring(of device: any DeviceSession, metrics: [Metric]) async throws(DeviceError) {
        try await pushGate.alone { () async throws(DeviceError) in
            let monitored = device.description.capabilities.metrics(with: .monitor)
            let failures = try await read(metrics.isEmpty ? monitored : metrics, from: device)
            try await write(to: device)
            if let failure = failures.first { throw failure.error }
        }
    }

    /// Writes what is pending and reads it back. Returns what the device did not take.
    func push(to device: any DeviceSession) async throws(DeviceError) -> String? {
        try await pushGate.alone { () async throws(DeviceError) in try await write(to: device) }
    }

    /// Reads the monitoring of some metrics and takes it in. Returns what could not be read.
    private func read(
        _ metrics: [Metric], from device: any DeviceSession
    ) async throws(DeviceError) -> [(metric: Metric, error: DeviceError)] {
        let (reported, failures) = try await readMonitoring(metrics, from: device)
        // What a device has no settings of is the gateway's alone; what it could not say is not known.
        twin.looked(at: metrics, failed: failures.filter { $0.error.code != .unsupported }.map(\.metric))
        await report(reported, of: device)
        return failures
    }

    @discardableResult
    private func write(to device: any DeviceSession) async throws(DeviceError) -> String? {
        let unknown = twin.unknown
        if !unknown.isEmpty { _ = try await read(unknown, from: device) }
        let writes = twin.writes
        guard !writes.isEmpty else {
            return twin.state.pending.isEmpty
                ? nil : "The device did not say how it is set; the change is tried again at the next connection."
        }
        var failures: [(metric: Metric, error: DeviceError)] = []
        for (metric, configuration) in writes {
            twin.writing(configuration, of: metric)
            do throws(DeviceError) {
                try await call("monitor/write", DeviceTimeouts.call) { () async throws(DeviceError) in
                    try await device.setMonitorConfiguration(configuration, of: metric)
                }
            } catch {
                if error.code == .timeout || error.code == .disconnected { throw error }
                failures.append((metric, error))
            }
        }
        // What was refused, too: it is not on its way any more, and must not hide a change on the device itself.
        let (reported, unread) = try await readMonitoring(writes.map(\.metric), from: device)
        failures += unread
        return await report(reported, of: device, failures: failures.map { ($0.metric, $0.error.message) })
    }

    /// Takes in what the device reported, and where something was written also how that went.
    @discardableResult
    private func report(
        _ reported: MonitorSettings, of device: any DeviceSession,
        failures: [(metric: Metric, error: String)]? = nil
    ) async -> String? {
        await twinGate.alone {
            twin.report(reported, capabilities: device.description.capabilities, at: clock.now)
            let error = failures.flatMap { twin.wrote(failures: $0, at: clock.now) }
            // Also what the store did not take the last time. What the device has is shown in any case.
            if twin.state != keptTwin, !(await keepTwin()) { publish(.config(twin.state)) }
            await applyLimits()
            return error
        }
    }

    /// A metric that cannot be read does not keep the others from being read.
    private func readMonitoring(
        _ metrics: [Metric], from device: any DeviceSession
    ) async throws(DeviceError) -> (settings: MonitorSettings, failures: [(metric: Metric, error: DeviceError)]) {
        var settings = MonitorSettings()
        var failures: [(metric: Metric, error: DeviceError)] = []
        for metric in metrics {
            do throws(DeviceError) {
                settings[metric] = try await call("monitor/read", DeviceTimeouts.call) {
                    () async throws(DeviceError) in
                    try await device.monitorConfiguration(of: metric)
                }
            } catch {
                if error.code == .timeout || error.code == .disconnected { throw error }
                failures.append((metric, error))
            }
        }
        return (settings, failures)
    }

    /// What came of a change of the monitoring.
    enum ConfigureResult: Sendable {
        /// The command is answered with it.
        case answered(Answer)
        /// It is on disk; the device has to be told.
        case accepted
    }

    /// Takes in a change that a command wants.
    func accept(_ patch: MonitorPatch, ifVersion: Int?, adopts: Bool) async -> ConfigureResult {
        await twinGate.alone { await change(patch, ifVersion: ifVersion, adopts: adopts) }
    }

    private func change(_ patch: MonitorPatch, ifVersion: Int?, adopts: Bool) async -> ConfigureResult {
        let before = twin.state
        let result = twin.apply(
            patch, ifVersion: ifVersion, adopts: adopts, capabilities: info.capabilities, at: clock.now)
        switch result {
        case .rejected(let violations):
            publish(.config(twin.state))
            let code: AnswerCode = violations.allSatisfy { $0.code == .unsupported } ? .unsupported : .invalid
            let message = "Nothing was changed: \(violations.count) of the settings cannot be accepted."
            return .answered(Answer(.rejected, code: code, message: message, violations: violations))
        case .conflict(let current):
            publish(.config(twin.state))
            return .answered(
                Answer(
                    .rejected, code: .conflict, message: "The configuration is at version \(current) by now.",
                    data: .version(current)))
        case .unchanged:
            publish(.config(twin.state))
            return .answered(Answer(.done, data: .version(twin.state.version)))
        case .waiting, .accepted: break
        }
        guard await keepTwin() else {
            twin.undo(to: before)
            publish(.config(twin.state))
            return .answered(
                Answer(.failed, code: .deviceError, message: "The settings cannot be kept: see the gateway's log."))
        }
        await applyLimits()
        return .accepted
    }

    /// Brings the device in step with what was accepted, where it is connected.
    func confirm() async -> Answer {
        let version = twin.state.version
        guard session != nil else { return Answer(.done, data: .version(version)) }
        let refusal: String?
        do {
            refusal = try await onSession { device throws(DeviceError) in try await self.push(to: device) }
        } catch {
            // A device that is lost meanwhile takes the settings at its next connection.
            if error.code == .disconnected { return Answer(.done, data: .version(version)) }
            return Answer(.failed, code: .deviceError, message: error.message, data: .version(version))
        }
        if let refusal { return Answer(.failed, code: .deviceError, message: refusal, data: .version(version)) }
        return Answer(.done, data: .version(version))
    }

    /// Alerts whose limits were switched off are cleared, and rules that have a limit now have a level.
    private func applyLimits() async {
        let (settings, before) = (twin.settings, appliedLimits)
        guard ledger.alerts.isBehind(settings, before: before) else {
            appliedLimits = settings
            return
        }
        do throws(StoreError) {
            try await decide { ledger, context in
                ledger.recording(limitsOf: settings, before: before, in: context)
            }
            appliedLimits = settings
        } catch {
            logger.error("The levels of alerts cannot be kept.", metadata: ["error": "\(error)"])
        }
    }

    @discardableResult
    private func keepTwin() async -> Bool {
        let state = twin.state
        do throws(StoreError) { try await store.save([.twin(state)], of: id) } catch {
            logger.error("The monitoring cannot be kept.", metadata: ["error": "\(error)"])
            return false
        }
        keptTwin = state
        publish(.config(twin.state))
        return true
    }
}
