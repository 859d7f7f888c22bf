import Concurrency
import GatewayKit
import Logging
import Vitals

/// Keeps one service of a plugin open: it opens it again whenever it breaks, until it is stopped.
final class ServiceRunner: Sendable {
    /// The wait after the first failure.
    static let firstWait: Duration = .seconds(1)
    /// The longest wait. A service is local, so a try costs little.
    static let longestWait: Duration = .seconds(60)
    /// A service that was open for this time counts as stable: the waits start again at the first.
    static let stableAfter: Duration = .seconds(60)

    let setup: ServiceSetup
    /// Fulfilled when the service was opened for the first time, or could not be.
    let tried = Promise<Void>()
    let ended = Promise<Void>()
    private let stopping = Promise<Void>()
    private let services: RunningServices
    private let passing: PassingParts
    private let clock: GatewayClock
    private let logger: Logger
    private let onReopened: @Sendable () async -> Void

    /// - Parameter onReopened: called each time that the service is open again after a failure.
    init(
        _ setup: ServiceSetup, in services: RunningServices, passing: PassingParts, clock: GatewayClock, logger: Logger,
        onReopened: @escaping @Sendable () async -> Void
    ) {
        self.setup = setup
        self.services = services
        self.passing = passing
        self.clock = clock
        var logger = logger
        logger[metadataKey: "plugin"] = "\(setup.name)"
        self.logger = logger
        self.onReopened = onReopened
    }

    /// Whether `stop` was called.
    var isStopping: Bool { stopping.value != nil }

    /// Makes `run` end. Returns at once.
    func stop() {
        passing.expect(.plugin(setup.name), toFulfil: ended)
        stopping.fulfil(())
    }

    /// Keeps the service open until `stop` is called or the task is cancelled.
    func run(generator: SplitMix64) async {
        var generator = generator
        var backOff = BackOff(first: Self.firstWait, longest: Self.longestWait)
        var failures = RepeatedNotice()
        var hasFailed = false
        services.closed(
            type(of: setup.service), "\(setup.name): \(type(of: setup.service).shared) is not open yet.")
        while stopping.value == nil, !Task.isCancelled {
            let isAgain = hasFailed
            let wasOpen = Promise<Duration>()
            let began = clock.uptime
            let failure = await open(wasOpen) {
                // Devices that waited for it in vain try again at once.
                if isAgain || self.clock.uptime - began >= ServiceSupervisor.timeout { await self.onReopened() }
            }
            tried.fulfil(())
            hasFailed = true
            guard let failure, stopping.value == nil, !Task.isCancelled else { break }
            if let opened = wasOpen.value, clock.uptime - opened >= Self.stableAfter {
                backOff.reset()
                failures = RepeatedNotice()
            }
            if failures.isDue(failure, at: clock.uptime) {
                logger.error(
                    "The plugin \(setup.name) cannot open \(type(of: setup.service).shared); trying again.",
                    metadata: ["error": "\(failure)", "failures": "\(failures.count)"])
            }
            await pause(for: backOff.next(using: &generator))
        }
        services.closed(type(of: setup.service), "The gateway no longer keeps \(setup.name) open.")
        ended.fulfil(())
    }

    /// Opens the service and waits until it has to end, or gives up opening it at a stop. Returns why it broke or could not be
    /// opened; `nil` after a stop.
    private func open(
        _ wasOpen: Promise<Duration>, _ opened: @escaping @Sendable () async -> Void
    ) async -> String? {
        let failure = await race(against: {
            try await self.stopping.wait()
            // An open service ends with its body.
            if wasOpen.value != nil { try await Promise<Void>().wait() }
        }) {
            await self.keepOpen {
                wasOpen.fulfil(self.clock.uptime)
                await opened()
            }
        }
        return failure ?? nil
    }

    private func keepOpen(_ opened: @escaping @Sendable () async -> Void) async -> String? {
        do {
            try await setup.opener {
                self.services.opened(self.setup.service)
                self.tried.fulfil(())
                try await self.passing.during(LivenessProbe(.plugin(self.setup.name), ask: self.setup.service.answer)) {
                    await opened()
                    _ = try await self.stopping.wait()
                }
            }
            guard stopping.value == nil else { return nil }
            throw LinkError(.broken, "It ended by itself.")
        } catch {
            let reason = "\(setup.name): \(error)"
            services.closed(type(of: setup.service), reason)
            return reason
        }
    }

    private func pause(for duration: Duration) async {
        await clock.withTimeout(duration) { [stopping] in _ = try? await stopping.wait() }
    }
}
