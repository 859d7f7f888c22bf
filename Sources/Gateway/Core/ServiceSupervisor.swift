import Concurrency
import GatewayKit
import Vitals

/// The services of plugins that the devices use, each with its runner. It belongs to the `DeviceSupervisor`.
final class ServiceSupervisor {
    /// How long devices wait for their service at the start. After that they begin, and say that it is not open.
    static let timeout: Duration = .seconds(10)

    private var runners: [String: ServiceRunner] = [:]
    private let settings: CoreSettings
    private var generator: SplitMix64

    init(settings: CoreSettings, generator: SplitMix64) {
        self.settings = settings
        self.generator = generator
    }

    /// The services that these devices use, by name.
    private static func services(of setups: [DeviceSetup]) -> [String: ServiceSetup] {
        Dictionary(setups.flatMap(\.services).map { ($0.name, $0) }) { first, _ in first }
    }

    /// Whether a service is kept open, also while it is not open in fact.
    func runs(_ name: String) -> Bool { runners[name] != nil }

    /// Ends the services that these devices do not use, or use with another configuration. Their devices have ended.
    /// - Parameter timeout: how long it waits for the ends; `nil` for as long as they take.
    /// - Returns: the ends that have not come in time. Each service is forgotten when `begin` finds that it has ended.
    @discardableResult
    func end(allBut setups: [DeviceSetup] = [], timeout: Duration? = nil) async -> [Promise<Void>] {
        let wanted = Self.services(of: setups)
        // One that did not end in time before is not waited for again.
        let ending = runners.values.filter { runner in
            wanted[runner.setup.name]?.fingerprint != runner.setup.fingerprint
                && (timeout == nil || !runner.isStopping)
        }
        for runner in ending { runner.stop() }
        if ending.isEmpty { return [] }
        if let timeout {
            await settings.clock.withTimeout(timeout) {
                for runner in ending { try? await runner.ended.wait() }
            }
        } else {
            for runner in ending { try? await runner.ended.wait() }
        }
        forgetEnded()
        return ending.map(\.ended).filter { $0.value == nil }
    }

    private func forgetEnded() {
        for (name, runner) in runners where runner.ended.value != nil { runners[name] = nil }
    }

    /// Opens the services of these devices that are not kept open yet, and waits for their first try.
    /// - Parameters:
    ///   - launch: runs work as a task of the gateway.
    ///   - onReopened: called with the name of a service that is open again after a failure.
    func begin(
        for setups: [DeviceSetup], launch: (@escaping @Sendable () async -> Void) -> Void,
        onReopened: @escaping @Sendable (String) async -> Void
    ) async {
        forgetEnded()
        var begun: [ServiceRunner] = []
        for (name, setup) in Self.services(of: setups).sorted(by: { $0.key < $1.key }) where runners[name] == nil {
            let runner = ServiceRunner(
                setup, in: settings.services, passing: settings.passing, clock: settings.clock,
                logger: settings.logger,
                onReopened: { await onReopened(name) })
            let (seed, running) = (SplitMix64(seed: generator.next()), settings.running)
            runners[name] = runner
            begun.append(runner)
            launch { await running.during("plugin \(name)") { await runner.run(generator: seed) } }
        }
        guard !begun.isEmpty else { return }
        await settings.clock.withTimeout(Self.timeout) { [begun] in
            for runner in begun { try? await runner.tried.wait() }
        }
    }
}
