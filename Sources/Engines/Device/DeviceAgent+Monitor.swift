import GatewayKit
import Logging
import Vitals

extension DeviceAgent {
    /// Reads the device's monitoring (of all monitored metrics where none is named), and writes what is pending.
    func refreshMonitoring(of device: any DeviceSession, metrics: [Metric]) async throws(DeviceError) {
        let capabilities = device.description.capabilities
        let monitored = capabilities.metrics(with: .monitor)
        let reported = try await readMonitoring(metrics.isEmpty ? monitored : metrics, from: device)
        twin.report(reported, capabilities: capabilities, at: clock.now)
        await keepTwin()
        try await push(to: device)
    }

    /// Writes what is pending, reads it back, and says what the device did not take.
    func push(to device: any DeviceSession) async throws(DeviceError) {
        try await pushGate.alone { () async throws(DeviceError) in
            let writes = twin.writes
            guard !writes.isEmpty else { return }
            var failures: [(metric: Metric, error: String)] = []
            var written: [Metric] = []
            for (metric, configuration) in writes {
                do throws(DeviceError) {
                    try await call("monitor/write", DeviceTimeouts.call) { () async throws(DeviceError) in
                        try await device.setMonitorConfiguration(configuration, of: metric)
                    }
                    written.append(metric)
                } catch {
                    if error.code == .timeout || error.code == .disconnected { throw error }
                    failures.append((metric, error.message))
                }
            }
            let reported = try await readMonitoring(written, from: device)
            twin.report(reported, capabilities: device.description.capabilities, at: clock.now)
            twin.wrote(failures: failures, at: clock.now)
            await keepTwin()
        }
    }

    private func readMonitoring(
        _ metrics: [Metric], from device: any DeviceSession
    ) async throws(DeviceError) -> MonitorSettings {
        var settings = MonitorSettings()
        for metric in metrics {
            let configuration = try await call("monitor/read", DeviceTimeouts.call) { () async throws(DeviceError) in
                try await device.monitorConfiguration(of: metric)
            }
            settings[metric] = configuration
        }
        return settings
    }

    /// Changes the monitoring as a command wants, and returns the command's final answer.
    func configure(_ patch: MonitorPatch, ifVersion: Int?, adopts: Bool) async -> Answer {
        let before = twin.state
        let result = twin.apply(
            patch, ifVersion: ifVersion, adopts: adopts, capabilities: info.capabilities, at: clock.now)
        switch result {
        case .rejected(let violations):
            publish(.config(twin.state))
            let code: AnswerCode = violations.allSatisfy { $0.code == .unsupported } ? .unsupported : .invalid
            let message = "Nothing was changed: \(violations.count) of the settings cannot be accepted."
            return Answer(.rejected, code: code, message: message, violations: violations)
        case .conflict(let current):
            publish(.config(twin.state))
            return Answer(
                .rejected, code: .conflict, message: "The configuration is at version \(current) by now.",
                data: .version(current))
        case .unchanged:
            publish(.config(twin.state))
            return Answer(.done, data: .version(twin.state.version))
        case .waiting, .accepted: break
        }
        guard await keepTwin() else {
            twin = TwinMachine(state: before)
            publish(.config(twin.state))
            return Answer(.failed, code: .deviceError, message: "The settings cannot be kept: see the gateway's log.")
        }
        await applyLimits()
        return await confirm()
    }

    /// Brings the device in step with what was accepted, where it is connected.
    private func confirm() async -> Answer {
        let version = twin.state.version
        guard session != nil else { return Answer(.done, data: .version(version)) }
        do {
            try await onSession { device throws(DeviceError) in try await self.push(to: device) }
        } catch {
            // A device that is lost meanwhile takes the settings at its next connection.
            if error.code == .disconnected { return Answer(.done, data: .version(version)) }
            return Answer(.failed, code: .deviceError, message: error.message, data: .version(version))
        }
        if let error = twin.state.error {
            return Answer(.failed, code: .deviceError, message: error, data: .version(version))
        }
        return Answer(.done, data: .version(version))
    }

    /// Alerts whose limits were switched off are cleared.
    private func applyLimits() async {
        let settings = twin.settings
        do throws(StoreError) {
            try await decide { ledger, context in ledger.recording(limitsOf: settings, in: context) }
        } catch {
            logger.error("Alerts cannot be cleared.", metadata: ["error": "\(error)"])
        }
    }

    @discardableResult
    private func keepTwin() async -> Bool {
        do throws(StoreError) { try await store.save([.twin(twin.state)], of: id) } catch {
            logger.error("The monitoring cannot be kept.", metadata: ["error": "\(error)"])
            return false
        }
        publish(.config(twin.state))
        return true
    }
}
