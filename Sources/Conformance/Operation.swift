import GatewayKit
import Vitals

/// A call of a session, with arguments that suit the device.
struct Operation: Sendable {
    /// Its name, for a violation.
    let name: String
    /// Whether it succeeds only with the device's answer. Other operations do nothing by default.
    let needsAnswer: Bool
    /// Whether it can be repeated, and leaves the device unchanged.
    let isHarmless: Bool
    /// Makes the call.
    let call: @Sendable (any DeviceSession) async throws -> Void

    private init(
        _ name: String, needsAnswer: Bool = true, isHarmless: Bool = true,
        _ call: @escaping @Sendable (any DeviceSession) async throws -> Void
    ) {
        self.name = name
        self.needsAnswer = needsAnswer
        self.isHarmless = isHarmless
        self.call = call
    }

    /// A schedule valid for every monitored metric.
    static let schedule = MonitorSchedule(isEnabled: true, start: 0, end: 1440, interval: 60)

    /// Every kind of call that a device with this description can answer; each with one metric that represents all.
    static func all(of description: DeviceDescription) -> [Operation] {
        let capabilities = description.capabilities
        var all = [Operation("ping", needsAnswer: false) { try await $0.ping() }]
        if let metric = capabilities.metrics(with: .history).first {
            let request = HistoryRequest(metric: metric, from: Timestamp(seconds: 0), to: Timestamp(seconds: 1))
            all.append(Operation("history") { _ = try await $0.history(request) })
            all.append(
                Operation("acknowledgeHistory", needsAnswer: false) {
                    try await $0.acknowledgeHistory(of: metric, through: Timestamp(seconds: 0))
                })
        }
        if let metric = capabilities.metrics(with: .summary).first {
            let days = LocalDay(number: 0)...LocalDay(number: 1)
            all.append(Operation("summaries") { _ = try await $0.summaries(of: metric, days: days) })
        }
        if let metric = capabilities.configurable.first {
            all.append(Operation("monitorConfiguration") { _ = try await $0.monitorConfiguration(of: metric) })
        }
        if let metric = capabilities.metrics(with: .monitor).first {
            all.append(
                Operation("setMonitorConfiguration") {
                    try await $0.setMonitorConfiguration(MonitorConfiguration(of: metric, schedule: schedule))
                })
        }
        if let metric = capabilities.metrics(with: .measure).first {
            all.append(
                Operation("startMeasurement", isHarmless: false) {
                    _ = try await $0.startMeasurement(of: metric, duration: .seconds(1))
                })
            all.append(
                Operation("stopMeasurement", needsAnswer: false) {
                    try await $0.stopMeasurement(MeasurementID("none"))
                })
        }
        if let clock = description.clock {
            all.append(
                Operation("setClock", needsAnswer: false) {
                    try await $0.setClock(clock.now, utcOffset: clock.utcOffset ?? 0)
                })
        }
        return all
    }
}
