import Logging
import ServiceLifecycle
import UnixSignals

/// Reloads the configuration on each `SIGHUP`, one at a time.
struct HangupService: Service {
    let signals: UnixSignalsSequence
    let logger: Logger
    let reload: @Sendable () async throws -> Void

    func run() async throws {
        for await _ in signals.cancelOnGracefulShutdown() {
            logger.info("SIGHUP: reading the configuration again.")
            // Refusals and errors are already logged.
            try? await reload()
        }
    }
}
