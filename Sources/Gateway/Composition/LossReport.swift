import GatewayKit
package import Logging
package import Store
package import StoreAPI
package import Vitals

/// Announces the loss of a store that was replaced to consumers, a gap for each device, until all of it is on disk. A start
/// before that does it again.
package struct LossReport: Sendable {
    /// The time between two attempts: a full disk gets room when a person makes it.
    static let retryInterval: Duration = .seconds(60)

    let store: any DeviceStore
    let opening: StoreOpening
    let devices: [DeviceID]
    let clock: GatewayClock
    let logger: Logger
    /// Called once all gaps are stored.
    let confirm: @Sendable () -> Void

    package init(
        store: any DeviceStore, opening: StoreOpening, devices: [DeviceID], clock: GatewayClock, logger: Logger,
        confirm: @escaping @Sendable () -> Void
    ) {
        self.store = store
        self.opening = opening
        self.devices = devices
        self.clock = clock
        self.logger = logger
        self.confirm = confirm
    }

    /// Says what has happened to the store, and announces the loss if there is one.
    /// - Returns: the devices whose gap could not be stored, for `retry`.
    func begin() async -> [DeviceID] {
        switch opening {
        case .new, .existing: return []
        case .replacedCorrupt(let path):
            logger.error(
                "The store was damaged and set aside. A new one is used, and devices are read again.",
                metadata: ["path": "\(path)"])
        case .restored(let path):
            logger.notice("The store was restored from a copy.", metadata: ["replaced": "\(path ?? "none")"])
        }
        return await announce(to: devices, isFirst: true)
    }

    /// Tries the rest again, until all of it is stored or the task is cancelled.
    func retry(_ rest: [DeviceID]) async {
        var rest = rest
        while !rest.isEmpty {
            do { try await clock.sleep(for: Self.retryInterval) } catch { return }
            rest = await announce(to: rest, isFirst: false)
        }
    }

    private func announce(to devices: [DeviceID], isFirst: Bool) async -> [DeviceID] {
        let gap = Gap(metric: nil, from: nil, to: nil, count: nil, reason: .storeReset, at: clock.now)
        for (index, device) in devices.enumerated() {
            do throws(StoreError) { try await store.report(gap, of: device) } catch {
                if isFirst {
                    logger.error("The gap cannot be stored; trying again.", metadata: ["error": "\(error)"])
                }
                return Array(devices[index...])
            }
        }
        confirm()
        return []
    }
}

extension GatewayCore {
    /// Announces the loss of a store that was replaced, and serves these devices, as `run` does.
    package func run(_ setups: [DeviceSetup], announcing losses: LossReport) async {
        let left = await losses.begin()
        guard !left.isEmpty else { return await run(setups) }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await losses.retry(left) }
            await run(setups)
            group.cancelAll()
        }
    }
}
