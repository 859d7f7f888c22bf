import Concurrency
import GatewayKit
import Logging
import Vitals

/// Keeps the device's monitoring in step with the desired settings.
final class MonitorSync {
    /// A metric whose monitoring could not be read or written, and why.
    struct Failure: Sendable {
        var metric: Metric
        var error: DeviceError
    }

    /// What the device did not take.
    struct Refusal: Sendable {
        /// The first reason, or that the device kept other values.
        var error: DeviceError
        /// Each metric's own reason; none for a metric whose values the device kept.
        var reasons: [Metric: DeviceError] = [:]
    }

    private let context: DeviceContext
    private let profile: DeviceProfile
    private var twin: TwinMachine { didSet { ingest.limits = twin.settings } }
    /// The twin as stored.
    private var stored: TwinState?
    /// The limits last applied to alerts.
    private var applied = MonitorSettings()
    /// Serialises conversations about the monitoring.
    private let conversation = AsyncMutex()
    /// Serialises changes of the twin, until each is on disk.
    private let turn = AsyncMutex()
    private let ingest: SampleIngest

    init(context: DeviceContext, profile: DeviceProfile, ingest: SampleIngest) {
        self.context = context
        self.profile = profile
        self.ingest = ingest
        twin = TwinMachine(state: TwinState(updatedAt: context.clock.now))
    }

    var state: TwinState { twin.state }
    /// The limits in force: the desired ones, or, before the first report, those reported.
    var settings: MonitorSettings { twin.settings }

    /// Restores the twin from the store.
    func restore(_ state: TwinState?) {
        if let state { twin = TwinMachine(state: state) }
        stored = state
        applied = twin.settings
    }

    // MARK: - Conversations with the device

    /// Reads the device's monitoring (of all monitored metrics if none is named), and writes pending settings. Returns
    /// which metrics could not be read.
    func refresh(_ metrics: [Metric] = [], on channel: DeviceChannel) async throws(DeviceError) -> [Failure] {
        try await conversation.withLock { () async throws(DeviceError) in
            let monitored = channel.capabilities.configurable
            let failures = await read(metrics.isEmpty ? monitored : metrics, from: channel)
            guard !failures.contains(where: \.error.endsSession) else { return failures }
            // What was read is answered also if the session ends while the pending settings are written.
            do throws(DeviceError) { try await write(to: channel) } catch { if !error.endsSession { throw error } }
            return failures
        }
    }

    /// Writes pending settings and reads them back. Returns what the device did not take.
    func push(to channel: DeviceChannel) async throws(DeviceError) -> Refusal? {
        try await conversation.withLock { () async throws(DeviceError) in try await write(to: channel) }
    }

    /// Reads and takes the monitoring of some metrics. Returns which could not be read.
    private func read(_ metrics: [Metric], from channel: DeviceChannel) async -> [Failure] {
        let (reported, failures) = await ask(for: metrics, channel)
        // The gateway alone keeps what the device does not support; a metric that failed otherwise stays unknown.
        twin.recordReads(of: metrics, failed: failures.filter { $0.error.code != .unsupported }.map(\.metric))
        await report(reported, of: channel.capabilities)
        return failures
    }

    @discardableResult
    private func write(to channel: DeviceChannel) async throws(DeviceError) -> Refusal? {
        let unknown = twin.unknown
        if !unknown.isEmpty {
            let failures = await read(unknown, from: channel)
            if let end = failures.first(where: \.error.endsSession) { throw end.error }
        }
        let writes = twin.writes
        guard !writes.isEmpty else {
            if twin.state.pending.isEmpty { return nil }
            return Refusal(
                error: DeviceError(
                    .failure, "The device did not say how it is set; the change is tried again at the next connection.")
            )
        }
        var failures: [Failure] = []
        for configuration in writes {
            twin.markWriting(configuration)
            do throws(DeviceError) {
                try await channel.call("monitor/write") { device throws(DeviceError) in
                    try await device.setMonitorConfiguration(configuration)
                }
            } catch {
                if error.endsSession { throw error }
                failures.append(Failure(metric: configuration.metric, error: error))
            }
        }
        // Read refused ones back, too: they are no longer under way, and must not hide a change made on the device.
        let (reported, unread) = await ask(for: writes.map(\.metric), channel)
        if let end = unread.first(where: \.error.endsSession) {
            await report(reported, of: channel.capabilities)
            throw end.error
        }
        failures += unread
        let message = await report(
            reported, of: channel.capabilities, failures: failures.map { ($0.metric, $0.error.message) })
        // Without a failure, the device kept other values.
        return message.map { message in
            Refusal(
                error: DeviceError(failures.first?.error.code ?? .failure, message),
                reasons: Dictionary(failures.map { ($0.metric, $0.error) }) { first, _ in first })
        }
    }

    /// Reads the device's monitoring. A metric that cannot be read does not stop the others. If the session ends, the
    /// metrics read so far count, and each other one fails with that error.
    private func ask(
        for metrics: [Metric], _ channel: DeviceChannel
    ) async -> (settings: MonitorSettings, failures: [Failure]) {
        var settings = MonitorSettings()
        var failures: [Failure] = []
        for (index, metric) in metrics.enumerated() {
            do throws(DeviceError) {
                let configuration = try await channel.call("monitor/read") { device throws(DeviceError) in
                    try await device.monitorConfiguration(of: metric)
                }
                if configuration.metric == metric { settings.set(configuration) }
            } catch {
                failures.append(Failure(metric: metric, error: error))
                guard error.endsSession else { continue }
                failures += metrics[(index + 1)...].map { Failure(metric: $0, error: error) }
                break
            }
        }
        return (settings, failures)
    }

    // MARK: - Changes

    /// Takes what the device reported and, after writes, how those went.
    @discardableResult
    private func report(
        _ reported: MonitorSettings, of capabilities: Capabilities,
        failures: [(metric: Metric, error: String)]? = nil
    ) async -> String? {
        await turn.withLock {
            twin.report(reported, capabilities: capabilities, at: context.clock.now)
            let error = failures.flatMap { twin.finishWrites(failures: $0, at: context.clock.now) }
            // Also store what failed to be stored before. If it fails again, still publish what the device has.
            let isBehind = twin.state != stored || ingest.isBehind(twin.settings, before: applied)
            if isBehind, !(await store()) { publish() }
            return error
        }
    }

    /// Accepts a change that a command asks for.
    /// - Returns: the command's answer; `nil` if the change is on disk, and the device has to get it.
    func accept(_ patch: MonitorPatch, ifVersion: Int?, adopts: Bool) async -> Answer? {
        await turn.withLock { await change(patch, ifVersion: ifVersion, adopts: adopts) }
    }

    private func change(_ patch: MonitorPatch, ifVersion: Int?, adopts: Bool) async -> Answer? {
        let before = twin.state
        let result = twin.apply(
            patch, ifVersion: ifVersion, adopts: adopts, capabilities: profile.capabilities, at: context.clock.now)
        switch result {
        case .rejected(let violations):
            publish()
            let code: AnswerCode = violations.allSatisfy { $0.code == .unsupported } ? .unsupported : .invalid
            let message = "Nothing was changed: \(violations.count) of the settings cannot be accepted."
            return Answer(.rejected, code: code, message: message, violations: violations)
        case .conflict(let current):
            publish()
            return Answer(
                .rejected, code: .conflict, message: "The configuration is at version \(current) by now.",
                data: .version(current, pending: twin.state.pending))
        case .unchanged:
            publish()
            return Answer(.done, data: version)
        case .waiting, .accepted: break
        }
        guard await store() else {
            twin.undo(to: before)
            publish()
            return Answer(
                .failed, code: .deviceError, message: "The settings cannot be stored: see the gateway's log.")
        }
        return nil
    }

    /// Writes an accepted change to the device, if it is connected. The answer lists what is still pending.
    func confirm(_ patch: MonitorPatch, over link: DeviceConnection) async -> Answer {
        guard link.session != nil else { return Answer(.done, data: version) }
        do throws(DeviceError) {
            if let refusal = try await link.ask({ .push($0) }) {
                return answer(refusal, to: patch)
            }
        } catch {
            guard error.endsSession else { return Answer(error, data: version) }
            let message = "The link broke before the device confirmed the change; it is sent at the next connection."
            return Answer(.done, code: .disconnected, message: message, data: version)
        }
        return Answer(.done, data: version)
    }

    /// The answer to a change. What else is pending, such as an earlier change of another metric, does not make it fail.
    private func answer(_ refusal: Refusal, to patch: MonitorPatch) -> Answer {
        let refused = patch.changes.keys.filter(twin.state.pending.contains)
        guard !refused.isEmpty else { return Answer(.done, data: version) }
        guard !refusal.reasons.isEmpty else { return Answer(refusal.error, data: version) }
        for metric in Metric.monitored where refused.contains(where: { $0.metric == metric }) {
            guard let reason = refusal.reasons[metric] else { continue }
            return Answer(DeviceError(reason.code, "\(metric.rawValue): \(reason.message)"), data: version)
        }
        let paths = refused.map(\.path).sorted().joined(separator: ", ")
        let error = DeviceError(.failure, "The device kept values other than those written for \(paths).")
        return Answer(error, data: version)
    }

    /// The answer to a command that reads the monitoring, with the metrics that were read.
    func answer(reading metrics: [Metric], failures: [Failure]) -> Answer {
        let wanted = metrics.isEmpty ? profile.capabilities?.configurable ?? [] : metrics
        let read = Metric.monitored.filter { metric in
            wanted.contains(metric) && !failures.contains { $0.metric == metric }
        }
        let data = Answer.Data.settings(twin.state.reported, of: read)
        guard let first = failures.first else { return Answer(.done, data: data) }
        let message = failures.map { "\($0.metric.rawValue): \($0.error.message)" }.joined(separator: "; ")
        return Answer(.failed, code: AnswerCode(first.error), message: message, data: data)
    }

    private var version: Answer.Data { .version(twin.state.version, pending: twin.state.pending) }

    /// Stores the twin and the effects of its limits. Returns whether they are on disk.
    private func store() async -> Bool {
        let (state, limits) = (twin.state, twin.settings)
        do throws(StoreError) { try await ingest.store(state, limits: limits, before: applied) } catch {
            context.logger.error("The monitoring cannot be stored.", metadata: ["error": "\(error)"])
            return false
        }
        stored = state
        applied = limits
        publish()
        return true
    }

    private func publish() { context.publish(.config(twin.state)) }
}
