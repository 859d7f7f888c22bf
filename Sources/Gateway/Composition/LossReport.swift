import GatewayKit
package import Logging
package import Store
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
    /// - Returns: whether nothing is left for `retry`.
    func begin() async -> Bool {
        switch opening {
        case .new, .existing: return true
        case .replacedCorrupt(let path):
            logger.error(
                "The store was damaged and moved aside. A new one is used, and devices are read again.",
                metadata: ["path": "\(path)"])
        case .restored(let path):
            logger.notice("The store was restored from a copy.", metadata: ["replaced": "\(path ?? "none")"])
        }
        return await announce(isFirst: true)
    }

    /// Tries it again, until it is stored or the task is cancelled.
    func retry() async {
        repeat {
            do { try await clock.sleep(for: Self.retryInterval) } catch { return }
        } while await !announce(isFirst: false)
    }

    /// Stores the gaps of all devices in one commit, since nothing else runs meanwhile, and none may be reported twice. Returns whether they
    /// are stored.
    private func announce(isFirst: Bool) async -> Bool {
        let gap = Gap(metric: nil, from: nil, to: nil, count: nil, reason: .storeReset, at: clock.now)
        do throws(StoreError) { try await store.report(gap, of: devices) } catch {
            if isFirst {
                logger.error("The gaps cannot be stored; trying again.", metadata: ["error": "\(error)"])
            }
            return false
        }
        confirm()
        return true
    }
}

extension GatewayCore {
    /// Announces the loss of a store that was replaced, and serves these devices, as `run` does.
    package func run(_ setups: [DeviceSetup], announcing losses: LossReport) async {
        guard await !losses.begin() else { return await run(setups) }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await losses.retry() }
            await run(setups)
            group.cancelAll()
        }
    }
}
