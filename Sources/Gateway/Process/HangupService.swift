import Logging
import ServiceLifecycle
import UnixSignals

/// Reloads the configuration with each `SIGHUP`, one after another.
struct HangupService: Service {
    let signals: UnixSignalsSequence
    let logger: Logger
    let reload: @Sendable () async throws -> Void

    func run() async throws {
        for await _ in signals.cancelOnGracefulShutdown() {
            logger.info("SIGHUP: reading the configuration again.")
            // A refusal was logged where it was decided, and each mistake when the file was read.
            try? await reload()
        }
    }
}
