package import GatewayKit
import GatewayTesting
import Synchronization
import TestSupport
package import Vitals

/// A session with a simulated wearable.
package final class WearableSession: DeviceSession {
    let wearable: Wearable
    let inbox = EventInbox(capacity: 64)
    package let description: DeviceDescription

    package init(_ wearable: Wearable) {
        self.wearable = wearable
        description = DeviceDescription(
            identity: DeviceIdentity(manufacturer: "Simulation", model: "Wearable"),
            capabilities: Wearable.capabilities, clock: DeviceClock(now: wearable.clock.now, utcOffset: 0))
    }

    package func nextEvents() async throws(DeviceError) -> [DeviceEvent]? { try await inbox.next() }

    package func settle(_ receipts: [SettledReceipt]) async throws(DeviceError) {
        try await misbehave()
    }

    package func history(_ request: HistoryRequest) async throws(DeviceError) -> HistoryPage {
        try await misbehave()
        let repeats = wearable.happens(wearable.state.withLock { $0.faults.repeatsPage })
        return wearable.state.withLock { state in
            let records = state.records.filter {
                $0.metric == request.metric && $0.start >= request.from && $0.start < request.to
            }
            let size = min(request.limit, Int.random(in: 1...9, using: &state.random))
            var first = request.page.flatMap { Int($0) } ?? 0
            // An imprecise device overlaps its pages.
            if repeats, first > 0 { first -= 1 }
            let page = records.dropFirst(first).prefix(size + (repeats ? 1 : 0))
            let next = first + page.count
            return HistoryPage(samples: Array(page), next: next < records.count ? "\(next)" : nil)
        }
    }

    package func acknowledgeHistory(of metric: Metric, through: Timestamp) async throws(DeviceError) {
        try await misbehave()
        wearable.state.withLock { $0.acknowledged[metric] = through }
    }

    package func monitorConfiguration(of metric: Metric) async throws(DeviceError) -> MonitorConfiguration {
        try await misbehave()
        return wearable.state.withLock { $0.monitoring }
    }

    package func setMonitorConfiguration(_ configuration: MonitorConfiguration) async throws(DeviceError) {
        try await misbehave()
        wearable.state.withLock { state in
            state.monitoring = configuration
            state.writes += 1
        }
    }

    package func setClock(_ now: Timestamp, utcOffset: Int) async throws(DeviceError) { try await misbehave() }
    package func ping() async throws(DeviceError) { try await misbehave() }
    package func shutdown() async { try? await misbehave() }

    private func misbehave() async throws(DeviceError) {
        let faults = wearable.state.withLock { $0.faults }
        if wearable.happens(faults.failsCall) {
            wearable.note("refuses a request")
            throw DeviceError(.failure, "The wearable stumbles.")
        }
        let hangs = wearable.happens(faults.hangsCall)
        if hangs { wearable.note("does not answer a request") }
        let pause: Duration = hangs ? .seconds(100_000) : .milliseconds(20)
        do { try await wearable.clock.sleep(for: pause) } catch {
            throw DeviceError(.disconnected, "The session was closed.")
        }
    }
}
